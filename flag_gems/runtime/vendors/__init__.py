# SPDX-License-Identifier: Apache-2.0
"""One file a vendor, each with a ``VENDOR``. The folder is the list of vendors."""
