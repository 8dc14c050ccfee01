# SPDX-License-Identifier: Apache-2.0
"""The small suite is looked at by the inventory; it is no test of this project."""

collect_ignore = ["suite"]
