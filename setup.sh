#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes .venv a working environment for one backend of backends.yaml:
#   ./setup.sh cpu
#   ENABLE_CPP=1 ./setup.sh cpu      # the C++ operators too (docs/cpp.md)
# A second call with nothing changed returns at once. docs/backends.md explains the variables:
#   PYTHON               interpreter to use instead of the one found
#   BENCH_INDEX          package index instead of pip's own
#   CMAKE_ARGS           more options for the C++ operators: -DFLAGGEMS_BUILD_CTESTS=ON
#   BENCH_EXTRA_INDEXES  extra indexes, separated by spaces, instead of the table's ("" for none)
set -euo pipefail

PROG=setup.sh
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/messages.sh
source "$ROOT/scripts/messages.sh"

readonly TABLE=$ROOT/backends.yaml
readonly VENV=$ROOT/.venv
readonly STAMP=$VENV/.bench-runner-setup
readonly CPP_STAMP=$VENV/.flag-gems-cpp

main() {
    read_arguments "$@"
    check_backend
    find_python
    check_toolkit
    if is_up_to_date && is_cpp_up_to_date; then
        say "$VENV is ready for $BACKEND"
        return
    fi

    # ---- no impact on the machine above this line ----

    if ! is_up_to_date; then
        install_venv_module
        make_venv
        install_project
        install_backend
        check_torch
        write_environment
        write_stamp
    fi
    if ! is_cpp_up_to_date; then
        install_cpp
    fi
    say "$VENV is ready for $BACKEND: source .venv/bin/activate"
}

read_arguments() {
    if [ $# -ne 1 ] || [[ $1 == -* ]]; then
        refuse "usage: ./setup.sh BACKEND, one of: $(known_backends)"
    fi
    BACKEND=$1
    case ${ENABLE_CPP:-0} in
    0 | "") CPP=0 ;;
    1) CPP=1 ;;
    *) refuse "ENABLE_CPP=${ENABLE_CPP}: give 1 to build the C++ operators, 0 to leave them out" ;;
    esac
    if [ "$CPP" = 1 ] && ! command -v "${CXX:-g++}" >/dev/null; then
        refuse "ENABLE_CPP=1 needs a C++20 compiler and there is no ${CXX:-g++}: install it (on Debian: sudo apt-get install g++)" 3
    fi
}

# Two plain readers of backends.yaml for the time before there is a YAML parser. They rely on its
# two-space indentation; tests/unit/backends holds them to what the real parser says.
known_backends() { sed -n 's/^  \([a-z0-9-]*\):.*/\1/p' "$TABLE" | paste -s -d ' '; }
backend_key() {
    awk -v backend="  $BACKEND:" -v key="    $1: " '
        /^  [a-z0-9-]+:/ { inside = ($0 == backend) }
        inside && index($0, key) == 1 { value = substr($0, length(key) + 1); gsub(/"/, "", value); print value }
    ' "$TABLE"
}

check_backend() {
    local name
    for name in $(known_backends); do
        [ "$name" != "$BACKEND" ] || return 0
    done
    refuse "unknown backend $BACKEND; known are: $(known_backends)"
}

find_python() {
    local wanted candidate
    wanted=$(backend_key python)
    for candidate in ${PYTHON:-python3 "python${wanted#>=}" python3.14 python3.13 python3.12 python3.11}; do
        if command -v "$candidate" >/dev/null && python_fits "$candidate" "$wanted"; then
            PYTHON_FOUND=$(command -v "$candidate")
            return
        fi
    done
    refuse "$BACKEND needs Python $wanted, found $(python_version "${PYTHON:-python3}"); install it, or name one with PYTHON=/path/to/python" 3
}

python_version() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo "none"
}

python_fits() {
    local version
    version=$(python_version "$1")
    case $2 in
    ">="*) [ "$version" != none ] && [ "${version%%.*}" = 3 ] && [ "${version#3.}" -ge "${2#>=3.}" ] ;;
    *) [ "$version" = "$2" ] ;;
    esac
}

check_toolkit() {
    local key path
    for key in env_source requires_path; do
        path=$(backend_key "$key")
        if [ -n "$path" ] && [ ! -e "$path" ]; then
            refuse "$BACKEND needs the vendor's toolkit, and $path is absent: install the toolkit, or use the image (docs/images.md)" 3
        fi
    done
}

fingerprint() {
    {
        cat "$ROOT/setup.sh" "$TABLE" "$ROOT/pyproject.toml"
        printf '%s\n' "$ROOT" "$BACKEND" "$(python_version "$PYTHON_FOUND")" \
            "${BENCH_INDEX:-}" "${BENCH_EXTRA_INDEXES-unset}"
    } | sha256sum | cut -d ' ' -f 1
}

is_up_to_date() {
    [ -x "$VENV/bin/python" ] && [ "$(cat "$STAMP" 2>/dev/null)" = "$BACKEND $(fingerprint)" ]
}

cpp_fingerprint() {
    {
        fingerprint
        printf '%s\n' "${CMAKE_ARGS:-}"
        find "$ROOT/cpp" -path "$ROOT/cpp/build" -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
    } | sha256sum | cut -d ' ' -f 1
}

is_cpp_up_to_date() {
    [ "$CPP" = 0 ] || [ "$(cat "$CPP_STAMP" 2>/dev/null)" = "$(cpp_fingerprint)" ]
}

# Debian packs the venv module's pip apart from Python.
install_venv_module() {
    if "$PYTHON_FOUND" -c 'import ensurepip, venv' 2>/dev/null; then
        return
    fi
    local package="python3-venv"
    [ "$PYTHON_FOUND" = "$(command -v python3)" ] || package="$(basename "$PYTHON_FOUND")-venv"
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        refuse "$PYTHON_FOUND has no venv module: install $package (on Debian: sudo apt-get install $package)" 3
    fi
    say "installing $package"
    export DEBIAN_FRONTEND=noninteractive
    quietly "apt-get update" apt-get update -q
    quietly "installing $package" apt-get install -q -y --no-install-recommends "$package"
}

make_venv() {
    local previous=""
    [ ! -f "$STAMP" ] || previous=$(cut -d ' ' -f 1 "$STAMP")
    if [ -n "$previous" ] && [ "$previous" != "$BACKEND" ]; then
        say "replacing the environment of $previous"
        rm -rf "$VENV"
    fi
    rm -f "$STAMP"
    if [ -x "$VENV/bin/python" ] && python_fits "$VENV/bin/python" "$(python_version "$PYTHON_FOUND")"; then
        return
    fi
    say "making $VENV with Python $(python_version "$PYTHON_FOUND")"
    "$PYTHON_FOUND" -m venv --clear "$VENV"
}

pip_install() {
    local what=$1
    shift
    say "installing $what"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "$@" ${BENCH_INDEX:+--index-url "$BENCH_INDEX"} >&2 ||
        refuse "pip could not install $what (above is why); docs/backends.md tells how to name other indexes or a wheel folder" 3
}

install_project() { pip_install "the project and its tools" --editable "$ROOT[serve,test,dev]"; }

# From here on the table is read by its real parser.
of_backend() { "$VENV/bin/python" -m bench_runner.setup_plan "$BACKEND" "$1"; }

install_backend() {
    local listing
    local -a indexes packages after
    listing=$(of_backend indexes) || exit
    mapfile -t indexes < <(printf '%s' "$listing")
    listing=$(of_backend packages) || exit
    mapfile -t packages < <(printf '%s' "$listing")
    listing=$(of_backend packages-after) || exit
    mapfile -t after < <(printf '%s' "$listing")
    pip_install "${packages[*]}" "${indexes[@]}" "${packages[@]}"
    [ ${#after[@]} -eq 0 ] || pip_install "${after[*]}" --no-deps "${indexes[@]}" "${after[@]}"
}

check_torch() {
    local found
    found=$("$VENV/bin/python" -c 'import torch; print(torch.__version__, torch.version.cuda or "no-cuda")') ||
        refuse "torch was installed but cannot be imported (above is why)" 3
    if [ "$BACKEND" = cpu ] && [[ $found != *no-cuda ]]; then
        refuse "torch ${found% *} is a CUDA build, the cpu backend takes the CPU build; remove .venv and name its index in BENCH_EXTRA_INDEXES" 3
    fi
    say "torch ${found% *}"
}

write_environment() {
    of_backend environment >"$VENV/bin/bench-environment" || exit
    local line='. "$VIRTUAL_ENV/bin/bench-environment"'
    grep -qxF "$line" "$VENV/bin/activate" || printf '%s\n' "$line" >>"$VENV/bin/activate"
}

install_cpp() {
    local cmake_backend
    local -a tools=("scikit-build-core>=0.10,<2" "pybind11>=2.13,<4" "ninja>=1.11,<2")
    command -v cmake >/dev/null || tools+=("cmake>=3.22,<5")
    cmake_backend=$(of_backend cmake-backend) || exit
    rm -f "$CPP_STAMP"
    pip_install "the tools that build the C++ operators" "${tools[@]}"
    "$ROOT/tools/set_cpp_vendor.sh" "$(tr '[:upper:]' '[:lower:]' <<<"$cmake_backend")"
    # Release unless CMAKE_ARGS says otherwise: without optimisation the wrappers lose what they are for.
    CMAKE_ARGS="-DCMAKE_BUILD_TYPE=Release -DFLAGGEMS_BUILD_C_EXTENSIONS=ON ${CMAKE_ARGS:-}" PATH="$VENV/bin:$PATH" \
        pip_install "the C++ operators for $cmake_backend" --no-build-isolation --no-deps --force-reinstall "$ROOT/cpp"
    cpp_fingerprint >"$CPP_STAMP"
}

write_stamp() { printf '%s\n' "$BACKEND $(fingerprint)" >"$STAMP"; }

# Sourced, it only defines: the tests ask its functions one by one.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    main "$@"
fi
