#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the vendor of the C++ operators into cpp/pyproject.toml: the wheel's name and the back end it is built for.
#   tools/set_cpp_vendor.sh cuda        # or musa, npu, ix, cpu
set -euo pipefail

readonly VENDORS="cuda musa npu ix cpu"
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly FILE=${FLAGGEMS_CPP_PYPROJECT:-$ROOT/cpp/pyproject.toml}

if [ $# -ne 1 ] || ! grep -qw -- "$1" <<<"$VENDORS"; then
    echo "set_cpp_vendor.sh: usage: tools/set_cpp_vendor.sh VENDOR, one of: $VENDORS" >&2
    exit 2
fi
upper=$(tr '[:lower:]' '[:upper:]' <<<"$1")
new=$(sed -e "s/^name = \"flag-gems-cpp-[a-z]*\"$/name = \"flag-gems-cpp-$1\"/" \
    -e "s/^FLAGGEMS_BACKEND = \"[A-Z]*\"$/FLAGGEMS_BACKEND = \"$upper\"/" "$FILE")
if ! grep -qxF "name = \"flag-gems-cpp-$1\"" <<<"$new" || ! grep -qxF "FLAGGEMS_BACKEND = \"$upper\"" <<<"$new"; then
    echo "set_cpp_vendor.sh: $FILE has no name = \"flag-gems-cpp-...\" or no FLAGGEMS_BACKEND: restore it with git" >&2
    exit 3
fi
# Unchanged content keeps its time stamp, so that nothing is built anew.
[ "$new" = "$(cat "$FILE")" ] || printf '%s\n' "$new" >"$FILE"
