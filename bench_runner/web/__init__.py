# SPDX-License-Identifier: Apache-2.0
"""The results server: the store in a browser, as JSON, and as metrics. It changes nothing."""
