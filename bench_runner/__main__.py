# SPDX-License-Identifier: Apache-2.0
"""``python -m bench_runner`` is ``bench-runner``."""

from bench_runner.cli import main

main()
