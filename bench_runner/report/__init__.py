# SPDX-License-Identifier: Apache-2.0
"""Runs as pages that need no server and nothing beside them."""
