# SPDX-License-Identifier: Apache-2.0
"""The benchmark appliance: plans jobs, runs each in a container, judges what came out, keeps it.

Importing this package costs nothing: neither torch nor pydantic is touched until a verb needs it.
"""
