# SPDX-License-Identifier: Apache-2.0
"""From claims to a verdict, outside the process that the candidate shared.

Exit codes are not believed. Each mode has a contract (one file here), and PASSED means that every
check of it held. What a candidate could still forge by writing a perfect report is documented in
docs/trust.md.
"""
