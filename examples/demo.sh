#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job on the example candidates: run, table, report, and whether all ended as they must.
#   examples/demo.sh [options of bench-runner run, for example --executor local]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/.venv/bin:$PATH"
readonly RUNS=runs/demo

# Some candidates are bad on purpose, so 1 is the right answer; anything else is a failure.
status=0
bench-runner run --matrix examples/matrix.yaml --jobs 2 --runs-dir "$RUNS" "$@" || status=$?
if [ "$status" -ne 1 ]; then
    echo "demo: bench-runner run exited with $status, expected 1" >&2
    exit 1
fi
bench-runner report latest --runs-dir "$RUNS" --html report.html
bench-runner show latest --runs-dir "$RUNS" --format json | python examples/verify.py
echo "open report.html in a browser"
