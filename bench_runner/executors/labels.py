# SPDX-License-Identifier: Apache-2.0
"""The label that every container of a job carries: the run it belongs to."""

from __future__ import annotations

RUN_LABEL = "io.bench-runner.run"
"""Value: what ``Storage.owner`` says of the run's folder."""
