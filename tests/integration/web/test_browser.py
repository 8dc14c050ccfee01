# SPDX-License-Identifier: Apache-2.0
"""The pages in a real browser: what a candidate wrote stays text, and one finds the way."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_runner.contract.verdict import Verdict
from bench_runner.executors.run_lock import acquire
from tests.unit.results.stored import make_run

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here (Debian: apt install chromium)"),
]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
RUN, HOSTILE, LIVE = "20260101-000000-aaaa", "20260102-000000-bbbb", "20260103-000000-cccc"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder, RUN)
    make_run(
        folder, HOSTILE, "/c/<img src=x onerror=alert(1)>.py", "c" * 64, candidate_ms=0.1,
        wrong=True,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def url(runs: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "bench_runner", "serve", "--port", "0", "--runs-dir"]
    process = subprocess.Popen([*command, str(runs)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    yield process.stderr.readline().strip().rstrip("/")
    process.terminate()
    process.wait(30)
    process.stderr.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    with playwright.sync_playwright() as engine:
        chromium = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: playwright.Browser, url: str) -> Iterator[playwright.Page]:
    """A page that fails the test when it runs script, complains or asks another server."""
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    troubles: list[str] = []
    page.on("dialog", lambda dialog: (troubles.append(f"dialog {dialog.message}"), dialog.accept()))
    page.on("pageerror", lambda error: troubles.append(f"error {error}"))
    page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(url) else troubles.append(f"asked {asked.url}"),
    )
    yield page
    page.close()
    assert troubles == []


def test_from_the_list_to_a_comparison(page: playwright.Page, url: str) -> None:
    page.goto(url)
    page.get_by_label("status").select_option("FAILED")
    page.get_by_role("button", name="Filter").click()
    assert "status=FAILED" in page.url
    assert page.get_by_role("link", name=RUN).count() == 0
    page.get_by_role("link", name="softmax").first.click()
    page.get_by_label("online.py as A").check()
    page.get_by_label("<img src=x onerror=alert(1)>.py as B").check()
    page.get_by_role("button", name="Compare A with B").click()
    assert "5.00× as fast" in page.inner_text("body")
    assert "did not pass in correctness" in page.inner_text("body")
    page.get_by_role("link", name="online:softmax").first.click()
    assert "/candidates/aaaaaaaaaaaa:softmax" in page.url


def test_what_a_candidate_wrote_is_seen_as_it_wrote_it(page: playwright.Page, url: str) -> None:
    page.goto(f"{url}/runs/{HOSTILE}")
    assert "<script>alert('reason')</script> & more" in page.inner_text("table")
    page.get_by_role("link", name="correctness").click()
    assert page.locator("img, script").count() == 0
    assert "<script>alert(1)</script>" in page.inner_text(".source")
    page.get_by_text("What it printed").click()
    assert page.inner_text("pre.log").strip() == "printed <b>this</b>"


def test_an_artifact_is_saved_whole(page: playwright.Page, url: str) -> None:
    page.goto(f"{url}/operators/softmax/candidates/aaaaaaaaaaaa:softmax")
    with page.expect_download() as started:
        page.get_by_role("link", name="report.json").first.click()
    assert started.value.suggested_filename == "report.json"
    assert Path(started.value.path()).read_text() == "{}"


def test_a_running_run_is_followed(page: playwright.Page, url: str, runs: Path) -> None:
    done = make_run(runs.parent / "elsewhere", LIVE)
    folder = make_run(runs, LIVE, judged=False)
    lock = acquire(folder.path)
    folder.job_folder(folder.record.jobs[0]).mkdir(parents=True)
    page.goto(f"{url}/runs/{LIVE}")
    assert "0 of 4 jobs have ended" in page.inner_text("body")
    assert page.get_by_role("cell", name="running", exact=True).count() == 1
    assert page.get_by_role("cell", name="waiting", exact=True).count() == 3
    verdict = done.verdict(done.record.jobs[0])
    assert isinstance(verdict, Verdict)
    folder.write_verdict(verdict)
    # Nobody reloads it.
    page.get_by_text("1 of 4 jobs have ended").wait_for(timeout=30_000)

    os.close(lock)
    page.get_by_text(re.compile("jobs have ended")).wait_for(state="detached", timeout=30_000)
    assert page.get_by_role("cell", name="not run", exact=True).count() == 3


@pytest.mark.parametrize("path", ["/", f"/runs/{RUN}", "/operators/softmax", "/operators"])
def test_a_narrow_screen_scrolls_tables_not_the_page(
    page: playwright.Page, url: str, path: str
) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    page.goto(url + path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2.1 of what ``getComputedStyle`` calls ``rgb(r, g, b)``."""
    parts = [int(part) / 255 for part in re.findall(r"[0-9]+", colour)[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read_in_both_themes(page: playwright.Page, url: str, theme: str) -> None:
    page.emulate_media(color_scheme=theme)
    page.goto(f"{url}/runs/{HOSTILE}")

    def of(selector: str, name: str) -> float:
        script = f"getComputedStyle(document.querySelector('{selector}')).{name}"
        return luminance(page.evaluate(script))

    paper = of("body", "backgroundColor")
    assert (paper > 0.5) == (theme == "light")
    for text in ("body", "a", "dt", "td.PASSED", "td.FAILED"):
        behind = of(".card", "backgroundColor") if text.startswith("td") else paper
        lighter, darker = sorted((of(text, "color"), behind), reverse=True)
        # What WCAG asks of text of this size.
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, text


def test_the_keyboard_reaches_the_filters_and_the_runs(page: playwright.Page, url: str) -> None:
    page.goto(url)
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.outerHTML"))
    assert any("<select" in one for one in reached)
    assert any(f"/runs/{HOSTILE}" in one for one in reached)
