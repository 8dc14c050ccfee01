# SPDX-License-Identifier: Apache-2.0
# Two images from one file. The last stage is the image in which every job runs, for every vendor: all that differs comes
# in as build arguments from backends.yaml (`bench-runner images plan` shows them, `bench-runner images build` passes them).
# The stage `appliance` is the same without torch: the runner, the results server and the socket proxy of compose.yaml.
# It uses only what BuildKit has built in (no `# syntax=` line), so that it builds where nothing can be pulled.
ARG BASE=debian:bookworm-slim

# Replaced by `--build-context wheels=FOLDER`; empty otherwise.
FROM scratch AS wheels

FROM ${BASE} AS prepared
SHELL ["/bin/sh", "-euc"]
ARG PYTHON=">=3.11"
ARG APT_PACKAGES="python3 python3-venv"
RUN --mount=type=secret,id=ca_bundle \
    export DEBIAN_FRONTEND=noninteractive; \
    [ -n "$APT_PACKAGES" ] || exit 0; \
    ca=/run/secrets/ca_bundle; \
    [ -s "$ca" ] || ca=/etc/ssl/certs/ca-certificates.crt; \
    apt-get -o "Acquire::https::CaInfo=$ca" update -q; \
    apt-get -o "Acquire::https::CaInfo=$ca" install -q -y --no-install-recommends $APT_PACKAGES; \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb
RUN found=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
    case "$PYTHON" in \
    ">="*) [ "$(printf '%s\n' "${PYTHON#>=}" "$found" | sort -V | head -n 1)" = "${PYTHON#>=}" ] ;; \
    *) [ "$PYTHON" = "$found" ] ;; \
    esac || { echo "the base image has Python $found, the backend needs $PYTHON: choose another --base"; exit 1; }; \
    python3 -m venv /opt/venv

ARG INDEX
ARG EXTRA_INDEXES

FROM scratch AS sources
COPY pyproject.toml backends.yaml ./
COPY flag_gems flag_gems
COPY triton_cpu triton_cpu
COPY bench_runner bench_runner
COPY benchmark benchmark
COPY tests/*.py tests/

FROM prepared AS appliance
RUN --mount=type=secret,id=ca_bundle --mount=type=secret,id=pip_conf --mount=type=cache,target=/root/.cache/pip \
    --mount=type=bind,source=pyproject.toml,target=/src/pyproject.toml \
    --mount=type=bind,source=bench_runner/images/pip_install.sh,target=/src/pip_install.sh \
    python3 -c 'import tomllib; p = tomllib.load(open("/src/pyproject.toml", "rb"))["project"]; \
      print(*p["dependencies"], *p["optional-dependencies"]["serve"], sep="\n")' >/tmp/requirements.txt; \
    sh /src/pip_install.sh -r /tmp/requirements.txt; \
    rm /tmp/requirements.txt
COPY --from=sources / /opt/bench/
WORKDIR /opt/bench
RUN chmod -R a+rX,go-w /opt/bench; \
    /opt/venv/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/bench; \
    # A new volume takes its owner from here.
    install -d -o 65532 -g 65532 /runs; \
    install -d /run/bench-runner
ENV PATH=/opt/venv/bin:$PATH PYTHONPATH=/opt/bench PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp
USER 65532:65532
ENTRYPOINT ["python", "-m", "bench_runner"]
ARG REVISION
LABEL org.opencontainers.image.title="bench-runner appliance" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="${REVISION}"

FROM prepared AS dependencies
ARG PACKAGES
ARG PACKAGES_AFTER
ARG REQUIREMENTS
RUN --mount=type=secret,id=ca_bundle --mount=type=secret,id=pip_conf --mount=type=cache,target=/root/.cache/pip \
    --mount=type=bind,from=wheels,target=/wheels \
    --mount=type=bind,source=bench_runner/images/pip_install.sh,target=/src/pip_install.sh \
    printf '%s\n' "$PACKAGES" "$REQUIREMENTS" >/tmp/requirements.txt; \
    sh /src/pip_install.sh -r /tmp/requirements.txt; \
    [ -z "$PACKAGES_AFTER" ] || sh /src/pip_install.sh --no-deps $PACKAGES_AFTER; \
    rm /tmp/requirements.txt

FROM dependencies
ARG BACKEND
ARG ENVIRONMENT
WORKDIR /opt/bench
COPY --from=sources / ./
COPY --chmod=0755 bench_runner/images/entrypoint.sh /opt/bench-entrypoint
ARG SUITE
# Bytecode that never looks at the source's time stamp: the root file system is read-only and no user owns it.
RUN chmod -R a+rX,go-w /opt/bench; \
    PYTHONPATH=/opt/bench /opt/venv/bin/python -c 'import sys; from bench_runner.suite import *; \
      found = suite_fingerprint(suite_root()); \
      sys.exit(found != sys.argv[1] and f"the sources changed while the image was built ({found}): build again")' "$SUITE"; \
    /opt/venv/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/bench; \
    printf '%s' "$ENVIRONMENT" >/opt/bench-environment; \
    if [ "$BACKEND" = cpu ]; then \
        # The sources are not installed, so Triton finds their back end by this record alone.
        mkdir flag_gems.dist-info; \
        printf 'Metadata-Version: 2.1\nName: flag-gems\nVersion: 0\n' >flag_gems.dist-info/METADATA; \
        sed -n '/^\[project.entry-points."triton.backends"\]/,/^$/s/^\([a-z]* = "\)/\1/p' pyproject.toml | tr -d '"' \
            | sed '1i [triton.backends]' >flag_gems.dist-info/entry_points.txt; \
    fi; \
    groupadd --gid 65532 bench; \
    useradd -K UID_MAX=65532 --uid 65532 --gid 65532 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin bench

# HOME and the user's name hold for any --user, also one without an entry in /etc/passwd.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONPATH=/opt/bench PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    HOME=/tmp USER=bench LOGNAME=bench
USER 65532:65532
# Loads the vendor's environment and becomes the command it is given; it replaces whatever the base had.
ENTRYPOINT ["/opt/bench-entrypoint"]
CMD ["python", "-m", "bench_runner.harness", "/in/job.json", "/out"]
ARG VERSION
ARG REVISION
ARG TORCH
ARG TRITON
ARG RECIPE
LABEL org.opencontainers.image.title="bench-runner" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      io.bench-runner.backend="${BACKEND}" \
      io.bench-runner.torch="${TORCH}" \
      io.bench-runner.triton="${TRITON}" \
      io.bench-runner.recipe="${RECIPE}" \
      io.bench-runner.suite="${SUITE}"
