#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make gate`: has the accuracy suite lost a test, a variant or a mark that nobody approved? With `baseline` as argument the
# suite as it is becomes what the next change is held against.
set -euo pipefail

PROG=gate.sh
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/messages.sh
source "$ROOT/scripts/messages.sh"

readonly HELD=tests/inventory
readonly NOW=build/inventory/suite.json
readonly DRAFT=build/inventory/draft.yaml

main() {
    cd "$ROOT"
    mkdir -p "$(dirname "$NOW")"
    case ${1:-} in
    baseline) manifest "$HELD/baseline.json" ;;
    "")
        manifest "$NOW"
        .venv/bin/bench-runner inventory gate "$NOW" --baseline "$HELD/baseline.json" --approved "$HELD/approved.yaml" \
            --root . --draft "$DRAFT"
        ;;
    *) refuse "usage: gate.sh [baseline]" ;;
    esac
}

manifest() {
    .venv/bin/bench-runner inventory manifest tests/test_*.py --platform cpu --framework pytest --shared --consumers \
        --python .venv/bin/python --package torch --package triton --output "$1"
}

main "$@"
