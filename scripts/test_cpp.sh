#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make test-cpp`: the C++ operators of the CPU back end built with their tests, ctest, and the Python suite through all ways.
set -euo pipefail

PROG=test_cpp.sh
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/messages.sh
source "$ROOT/scripts/messages.sh"

main() {
    install_missing
    cd "$ROOT"
    ENABLE_CPP=1 CMAKE_ARGS="-DFLAGGEMS_BUILD_CTESTS=ON ${CMAKE_ARGS:-}" ./setup.sh cpu
    PATH="$ROOT/.venv/bin:$PATH" ctest --test-dir "$(ls -td cpp/build/*/ | head -n 1)" --output-on-failure
    .venv/bin/python -m pytest tests/integration/cpp "$@"
}

# A compiler and GoogleTest are the machine's: Debian packs both.
install_missing() {
    local -a missing=()
    command -v "${CXX:-g++}" >/dev/null || missing+=(g++)
    [ -n "${GTest_DIR:-}" ] || [ -e /usr/include/gtest/gtest.h ] || missing+=(libgtest-dev)
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        refuse "the C++ tests need ${missing[*]}: install them (on Debian: sudo apt-get install ${missing[*]}), or name GoogleTest with GTest_DIR" 3
    fi
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    quietly "apt-get update" apt-get update -q
    quietly "installing ${missing[*]}" apt-get install -q -y --no-install-recommends "${missing[@]}"
}

main "$@"
