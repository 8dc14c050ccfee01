# SPDX-License-Identifier: Apache-2.0
"""The store as Prometheus metrics, built anew at each scrape: nothing is stale or counted twice."""
