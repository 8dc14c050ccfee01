#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes sure that a Debian base image exists under its usual name, on machines that can pull nothing too:
# there it is bootstrapped from the Debian archive that apt already uses.
#   base_image.sh debian:<suite>[-slim]
set -euo pipefail

PROG=base_image.sh
# shellcheck source=scripts/messages.sh
source "$(dirname "${BASH_SOURCE[0]}")/messages.sh"

# An unreachable registry otherwise keeps the engine waiting for minutes.
readonly PULL_SECONDS=60

main() {
    [ $# -eq 1 ] || refuse "usage: base_image.sh debian:<suite>[-slim]"
    local image=$1
    if docker image inspect "$image" >/dev/null 2>&1; then
        return
    fi
    if timeout "$PULL_SECONDS" docker pull --quiet "$image" >/dev/null 2>&1; then
        say "pulled $image"
        return
    fi
    local suite=${image#debian:}
    suite=${suite%-slim}
    case $image in
    debian:*) ;;
    *) refuse "cannot pull $image: name one that this engine has with --base, or load it with docker load" 3 ;;
    esac
    bootstrap "$image" "$suite"
}

bootstrap() {
    local image=$1 suite=$2 mirror root
    { [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; } ||
        refuse "cannot pull $image, and only root on a Debian machine can bootstrap it; use --base" 3
    say "cannot pull $image: building it from the Debian archive under that name"
    if ! command -v debootstrap >/dev/null; then
        quietly "apt-get update" apt-get update -q
        DEBIAN_FRONTEND=noninteractive quietly "installing debootstrap" \
            apt-get install -q -y --no-install-recommends debootstrap
    fi
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $suite" \
        2>/dev/null | head -n 1)
    [ -n "$mirror" ] || refuse "apt has no source for Debian $suite; use --base" 3
    root=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf --one-file-system '$root'" EXIT
    quietly "debootstrap $suite" debootstrap --variant=minbase "$suite" "$root" \
        "$mirror"
    slim_down "$root"
    tar --numeric-owner -C "$root" -c . |
        docker import --change 'CMD ["bash"]' --change 'LABEL io.bench-runner.origin=debootstrap' \
            - "$image" >/dev/null
}

# What the slim variant of the official image leaves out too.
slim_down() {
    local root=$1
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/var/log/*.log \
        "$root"/usr/share/{doc,man,info,locale}/*
    cat >"$root/etc/dpkg/dpkg.cfg.d/slim" <<'PATHS'
path-exclude /usr/share/doc/*
path-exclude /usr/share/man/*
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
PATHS
}

main "$@"
