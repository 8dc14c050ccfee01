# SPDX-License-Identifier: Apache-2.0
"""A package, so that its files can be loaded under two names."""
