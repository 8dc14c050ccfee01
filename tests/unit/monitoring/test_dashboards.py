# SPDX-License-Identifier: Apache-2.0
"""The dashboards in the repository are the description's, and each panel says what it is."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench_runner.metrics.dashboards import DASHBOARDS, DATASOURCE, write

ROOT = Path(__file__).parents[3] / "monitoring"
FOLDER = ROOT / "grafana" / "dashboards"
FILES = sorted(FOLDER.glob("*.json"))


def load(file: Path) -> dict[str, Any]:
    document = json.loads(file.read_text())
    assert isinstance(document, dict)
    return document


def test_the_files_are_what_the_description_makes(tmp_path: Path) -> None:
    made = {path.name: path.read_text() for path in write(tmp_path)}
    assert {file.name: file.read_text() for file in FILES} == made, (
        "run: python -m bench_runner.metrics.dashboards monitoring/grafana/dashboards"
    )


def test_uids_are_unique() -> None:
    uids = [dashboard.uid for dashboard in DASHBOARDS]
    assert len(set(uids)) == len(uids)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_panels_are_whole_and_do_not_overlap(file: Path) -> None:
    panels = load(file)["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        assert panel["title"]
        assert panel["description"]
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["datasource"] == DATASOURCE
        [target] = panel["targets"]
        assert target["expr"]
    for one, other in combinations([panel["gridPos"] for panel in panels], 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)
        assert one["x"] + one["w"] <= 24


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_queries_use_the_variables_that_the_dashboard_has(file: Path) -> None:
    document = load(file)
    offered = {variable["name"] for variable in document["templating"]["list"]}
    used = {
        name
        for panel in document["panels"]
        for name in re.findall(r"\$(\w+)", panel["targets"][0]["expr"])
    }
    assert used == offered


def test_links_lead_to_dashboards_that_exist() -> None:
    known = {f"/d/{load(file)['uid']}" for file in FILES}
    for file in FILES:
        links = {link["url"] for link in load(file)["links"]}
        assert links == known - {f"/d/{load(file)['uid']}"}


def test_the_provisioned_datasource_is_the_panels() -> None:
    file = ROOT / "grafana" / "provisioning" / "datasources" / "prometheus.yaml"
    document = yaml.safe_load(file.read_text())
    [source] = document["datasources"]
    assert {"type": source["type"], "uid": source["uid"]} == DATASOURCE
