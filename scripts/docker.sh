#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make docker`: an engine that answers, a base image, and the CPU image of this checkout. Quick where all are there.
set -euo pipefail

PROG=docker.sh
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/messages.sh
source "$ROOT/scripts/messages.sh"

main() {
    [ -x "$ROOT/.venv/bin/bench-runner" ] || refuse "no .venv yet: run ./setup.sh cpu, or make docker"
    bash "$ROOT/scripts/engine.sh"
    local base
    base=$(base_of cpu)
    bash "$ROOT/scripts/base_image.sh" "$base"
    build_cpu_image "$base"
}

base_of() {
    "$ROOT/.venv/bin/python" -c 'import sys; from bench_runner.backends import load_backends; print(load_backends()[sys.argv[1]].image.base)' "$1"
}

build_cpu_image() {
    local base=$1
    local -a options=(--host-pip --if-changed)
    # An engine without a working bridge can still build on the host's network.
    if ! docker run --rm --network bridge "$base" true >/dev/null 2>&1; then
        say "the engine's bridge network does not work: building on the host's network"
        options+=(--network host)
    fi
    "$ROOT/.venv/bin/bench-runner" images build cpu "${options[@]}" >/dev/null
}

main "$@"
