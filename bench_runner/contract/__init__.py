# SPDX-License-Identifier: Apache-2.0
"""Models of every record that crosses a process boundary.

A record that contradicts itself cannot be built, and a file of an unknown schema version is
refused. The JSON Schemas under docs/schemas are generated from here (``schemas.py``).
"""
