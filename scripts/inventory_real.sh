#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Brings PyTorch v2.6.0's test tree (from Debian's source package) and the wheel that fits it into a folder of
# their own, for the tests of the inventory on real files. A second call returns at once. Nothing of it is kept in
# the repository. Variables:
#   BENCH_INVENTORY_REAL  the folder (default: ~/.cache/bench-runner/inventory-real; 6.5 GB)
#   PYTHON                interpreter of 3.9 to 3.13, as torch 2.6.0 needs (default: python3)
#   BENCH_INDEX           package index instead of pip's own
set -euo pipefail

PROG=inventory_real.sh
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/messages.sh
source "$ROOT/scripts/messages.sh"

readonly FOLDER=${BENCH_INVENTORY_REAL:-${XDG_CACHE_HOME:-$HOME/.cache}/bench-runner/inventory-real}
readonly TORCH=2.6.0
readonly SOURCE=pytorch=2.6.0+dfsg-7
readonly SUITE=trixie
readonly KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
# pytest 9 refuses that tree's conftest.py.
readonly PACKAGES=("torch==$TORCH" "pytest==7.3.2" "numpy<3" expecttest hypothesis pyyaml setuptools psutil scipy)

main() {
    mkdir -p "$FOLDER"
    [ -f "$FOLDER/source/test/inductor/test_torchinductor.py" ] || fetch_source
    [ "$(installed_torch)" = "$TORCH" ] || make_environment
    say "$FOLDER holds the source and torch $TORCH"
}

fetch_source() {
    command -v apt-get >/dev/null && [ -f "$KEYRING" ] ||
        refuse "the source comes from Debian's archive, and this machine has no apt-get or no $KEYRING: unpack pytorch $TORCH's source as $FOLDER/source" 3
    local work archive
    work=$(mktemp -d)
    # A folder that apt's own user can read, and lists of its own: the machine's sources stay as they are.
    chmod 755 "$work"
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/source"
    archive=$(sed -n 's/^URIs: *\(\S*\).*/\1/p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1)
    printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
        "${archive:-http://deb.debian.org/debian}" "$SUITE" "$KEYRING" >"$work/debian.sources"
    local -a options=(-o "Dir::Etc::sourcelist=$work/debian.sources" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache")
    say "fetching Debian's source of $SOURCE"
    quietly "apt-get update of $SUITE's sources" apt-get "${options[@]}" update
    (cd "$work/source" && quietly "fetching $SOURCE" apt-get "${options[@]}" source --download-only "$SOURCE")
    mkdir -p "$FOLDER/source.part"
    tar -xf "$work"/source/*.orig.tar.* -C "$FOLDER/source.part" --strip-components=1
    rm -rf "$FOLDER/source"
    mv "$FOLDER/source.part" "$FOLDER/source"
    rm -rf "$work"
}

installed_torch() {
    "$FOLDER/venv/bin/python" -c 'from importlib.metadata import version; print(version("torch"))' 2>/dev/null || true
}

make_environment() {
    local python=${PYTHON:-python3}
    say "installing torch $TORCH and what its tests import (5.5 GB)"
    "$python" -m venv --clear "$FOLDER/venv"
    "$FOLDER/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        ${BENCH_INDEX:+--index-url "$BENCH_INDEX"} "${PACKAGES[@]}" >&2 ||
        refuse "pip could not install torch $TORCH (above is why); it needs Python 3.9 to 3.13, name one with PYTHON" 3
}

main
