# SPDX-License-Identifier: Apache-2.0
"""Labels that the Dockerfile gives an image, and by which it is found and trusted again."""

from __future__ import annotations

BACKEND_LABEL = "io.bench-runner.backend"
RECIPE_LABEL = "io.bench-runner.recipe"
SUITE_LABEL = "io.bench-runner.suite"
KIND_LABEL = "io.bench-runner.kind"
HOST_KIND = "host"
"""An image without content: the machine's own system is mounted over it."""
VERSION_LABELS = {"torch": "io.bench-runner.torch", "triton": "io.bench-runner.triton"}
