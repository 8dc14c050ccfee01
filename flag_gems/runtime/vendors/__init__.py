# SPDX-License-Identifier: Apache-2.0
"""One file a vendor, each with a ``VENDOR``: the folder is the list, so a new vendor is one new file."""
