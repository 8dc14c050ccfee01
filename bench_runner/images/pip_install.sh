#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pip as the Dockerfile's stages call it: the environment's INDEX and EXTRA_INDEXES, the build's secrets, /wheels if it
# is mounted. Credentials live in the secrets alone, so no layer and no history holds them. Lists what is installed.
set -eu

[ ! -s /run/secrets/ca_bundle ] || export PIP_CERT=/run/secrets/ca_bundle
[ ! -s /run/secrets/pip_conf ] || export PIP_CONFIG_FILE=/run/secrets/pip_conf
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
[ ! -d /wheels ] || set -- --find-links /wheels "$@"
[ -z "${INDEX:-}" ] || set -- --index-url "$INDEX" "$@"
for url in ${EXTRA_INDEXES:-}; do set -- --extra-index-url "$url" "$@"; done
/opt/venv/bin/pip install "$@"
/opt/venv/bin/pip freeze --all >/opt/packages.txt
