# SPDX-License-Identifier: Apache-2.0
"""What runs inside the container, next to the candidate.

Everything written here can be forged by the candidate; the judge treats it as a claim. The
harness imports neither pydantic nor the rest of bench_runner, so that starting it costs little.
"""
