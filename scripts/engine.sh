#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Leaves a Docker engine with BuildKit answering on this machine; does nothing where one already does.
# Debian 12 ships engine 20.10 and no buildx, so there the engine (and only it) comes from Debian 13.
set -euo pipefail

PROG=engine.sh
# shellcheck source=scripts/messages.sh
source "$(dirname "${BASH_SOURCE[0]}")/messages.sh"

# 23 is the first engine whose `docker build` is BuildKit; secrets and named contexts need it.
readonly OLDEST_ENGINE=23
readonly DOCKERD_LOG=${DOCKERD_LOG:-/var/log/dockerd.log}
readonly START_SECONDS=60
readonly NEWER_SUITE=trixie

main() {
    if engine_answers && has_buildx && engine_is_new_enough; then
        say "engine $(engine_version) answers"
        return
    fi
    check_means

    # ---- no impact on the machine above this line ----

    if ! command -v dockerd >/dev/null || ! has_buildx; then
        install_engine
    fi
    engine_answers || start_engine
    engine_is_new_enough ||
        refuse "engine $(engine_version) is older than $OLDEST_ENGINE.0; install a newer one" 3
    say "engine $(engine_version) answers"
}

engine_answers() { docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }
engine_version() { docker version --format '{{.Server.Version}}' 2>/dev/null; }
has_buildx() { docker buildx version >/dev/null 2>&1; }

engine_is_new_enough() {
    local version
    version=$(engine_version)
    [ "${version%%.*}" -ge "$OLDEST_ENGINE" ]
}

check_means() {
    if engine_answers && command -v dockerd >/dev/null && ! engine_is_new_enough; then
        refuse "engine $(engine_version) is running but older than $OLDEST_ENGINE.0; stop it or upgrade it" 3
    fi
    [ -z "${DOCKER_HOST:-}" ] ||
        refuse "DOCKER_HOST=$DOCKER_HOST does not answer or has no buildx; fix it or unset it" 3
    if [ "$(id -u)" -ne 0 ]; then
        refuse "no usable Docker engine and not root: install Docker $OLDEST_ENGINE or newer with buildx (on Debian: sudo make docker), and join its group" 3
    fi
    if ! command -v dockerd >/dev/null && ! command -v apt-get >/dev/null; then
        refuse "no Docker engine and no apt-get: install Docker $OLDEST_ENGINE or newer with buildx" 3
    fi
}

install_engine() {
    local packages=(docker.io docker-cli docker-buildx iptables ca-certificates)
    local ID=unknown VERSION_CODENAME=unknown
    # shellcheck disable=SC1091
    source /etc/os-release
    export DEBIAN_FRONTEND=noninteractive
    case $ID in
    debian)
        packages+=(docker-compose)
        [ "$VERSION_CODENAME" != bookworm ] || add_newer_suite
        ;;
    ubuntu) packages=(docker.io docker-buildx docker-compose-v2 iptables ca-certificates) ;;
    *) refuse "no recipe for $ID: install Docker $OLDEST_ENGINE or newer with buildx" 3 ;;
    esac
    say "installing ${packages[*]}"
    quietly "apt-get update" apt-get update -q
    quietly "installing the engine" apt-get install -q -y --no-install-recommends "${packages[@]}"
}

# runc stays Debian 12's: the newer one would pull in a newer libc for the whole machine.
add_newer_suite() {
    local mirror
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $VERSION_CODENAME" \
        2>/dev/null | head -n 1)
    [ -n "$mirror" ] ||
        refuse "apt has no source for Debian $VERSION_CODENAME to take $NEWER_SUITE from; install Docker $OLDEST_ENGINE or newer by hand" 3
    say "the engine comes from Debian $NEWER_SUITE, everything else stays $VERSION_CODENAME"
    cat >/etc/apt/sources.list.d/bench-runner-engine.sources <<SOURCES
Types: deb
URIs: ${mirror%/}
Suites: $NEWER_SUITE
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
    cat >/etc/apt/preferences.d/bench-runner-engine <<PINS
Package: *
Pin: release n=$NEWER_SUITE
Pin-Priority: 100

Package: docker.io docker-cli docker-buildx docker-compose containerd
Pin: release n=$NEWER_SUITE
Pin-Priority: 600
PINS
}

start_engine() {
    if [ -d /run/systemd/system ]; then
        quietly "starting the engine" systemctl start docker
    elif ! dockerd_lives; then
        mount_cgroups
        say "starting dockerd, log in $DOCKERD_LOG"
        : >"$DOCKERD_LOG"
        setsid --fork dockerd >>"$DOCKERD_LOG" 2>&1 </dev/null
    fi
    wait_for_engine
}

dockerd_lives() {
    local pid
    pid=$(cat /var/run/docker.pid 2>/dev/null) || return 1
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ]
}

# Containers and micro VMs often come up with an empty /sys/fs/cgroup.
mount_cgroups() {
    if ! grep -q ' /sys/fs/cgroup' /proc/mounts; then
        mkdir -p /sys/fs/cgroup
        quietly "mounting cgroups" mount -t cgroup2 none /sys/fs/cgroup
    fi
}

wait_for_engine() {
    local second
    for ((second = 0; second < START_SECONDS; second++)); do
        engine_answers && return
        # The pid file appears a moment after the start, so give it five seconds before judging.
        if [ "$second" -gt 5 ] && ! dockerd_lives; then
            break
        fi
        sleep 1
    done
    [ ! -s "$DOCKERD_LOG" ] || tail -n 5 "$DOCKERD_LOG" >&2
    refuse "dockerd did not answer within ${second}s; its log is $DOCKERD_LOG" 3
}

main "$@"
