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
    bash "$ROOT/scripts/base_image.sh" "$(base_of cpu)"
    build_cpu_image
}

base_of() {
    "$ROOT/.venv/bin/python" -c 'import sys; from bench_runner.backends import load_backends; print(load_backends()[sys.argv[1]].image.base)' "$1"
}

# Engines on machines without a working bridge still build on the host's network.
build_cpu_image() {
    local -a options=(--host-pip --if-changed)
    bridge_works || options+=(--network host)
    "$ROOT/.venv/bin/bench-runner" images build cpu "${options[@]}" >/dev/null
}

bridge_works() { [ -n "$(docker network ls --quiet --filter name='^bridge$')" ]; }

main "$@"
