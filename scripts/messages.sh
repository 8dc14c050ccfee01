# SPDX-License-Identifier: Apache-2.0
# How every script of this project talks: progress on stderr, one line a fact, one line a refusal.
# Sourced, never run; the sourcing script sets PROG.

say() { printf '%s: %s\n' "$PROG" "$*" >&2; }

# refuse MESSAGE [EXIT]: 2 is bad usage (the default), 3 is the machine's fault.
refuse() {
    printf '%s: %s\n' "$PROG" "$1" >&2
    exit "${2:-2}"
}

# quietly WHAT COMMAND...: the command's output is shown only when it fails.
quietly() {
    local what=$1 log
    shift
    log=$(mktemp)
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 30 "$log" >&2
        rm -f "$log"
        refuse "$what failed: $*" 3
    fi
    rm -f "$log"
}
