#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Loads what the vendor's processes need in their environment, then becomes the command.
set -e
. /opt/bench-environment
exec "$@"
