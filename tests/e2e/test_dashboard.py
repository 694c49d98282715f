"""The dashboard in a real browser: every page, from looking to running, at a desk and on a phone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from api_world import fill, make_record, make_run
from blank_store import blank_store
from modeldyno.core.types import Case
from served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

EVIL = '<img src=x onerror="window.hacked=1">'
PAGES = (
    "/dashboard",
    "/dashboard?show=compatibility",
    "/dashboard?show=freshness",
    "/dashboard/explore",
    "/dashboard/explore?sort=latency_ms&newest=1",
    "/dashboard/compare?by=batch&model=tiny-bert",
    "/dashboard/models",
    "/dashboard/models/tiny-bert",
    "/dashboard/devices",
    "/dashboard/runs",
    "/dashboard/trends",
    "/dashboard/recommend",
    "/dashboard/recommend?model=tiny-bert&slo=p90%3D5ms",
    "/dashboard/run",
    "/dashboard/run?model=tiny-bert",
    "/dashboard/jobs",
    "/dashboard/generate?model=tiny-bert&on=cpu",
    "/dashboard/generate?kind=workflow",
    "/dashboard/training",
    "/dashboard/browsers",
    "/dashboard/distributed",
    "/dashboard/quantization",
    "/dashboard/reports",
    "/dashboard/account",
    "/login",
    "/docs",
)
ALIKE = ("/dashboard/browsers", "/dashboard/distributed", "/dashboard/quantization")
"""Of one template with another that is looked at."""
SIZES = {"desk": (1366, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = blank_store(tmp_path_factory.mktemp("dashboard") / "dyno.duckdb")
    fill(store)
    run = make_run(2)
    evil = make_record(
        run, 4000, case=Case(model=EVIL, platform="cpu", runtime="torch"), reason=EVIL, log=EVIL, status="failed"
    )
    store.add([run, evil])
    with Served(store.path) as server:
        yield server


@pytest.fixture(scope="module")
def logged_in(served: Served, browser: Browser) -> Any:
    """The cookies of whoever used the link that the first start prints."""
    context = browser.new_context()
    page = context.new_page()
    assert served.link
    page.goto(served.link)
    assert page.url == f"{served.address}/dashboard"
    state = context.storage_state()
    context.close()
    return state


@contextmanager
def opened(browser: Browser, address: str, size: str = "desk", state: Any = None) -> Iterator[Page]:
    """A page that must stay without errors and ask nobody else."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, storage_state=state)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if _is_foreign(request.url, address) else None)
    page.on("dialog", lambda dialog: problems.append(f"dialog {dialog.message}"))
    yield page
    context.close()
    assert problems == []


def _is_foreign(url: str, address: str) -> bool:
    return not url.startswith((address, "data:", "blob:"))


def one_of(served: Served) -> list[str]:
    """A device, a run, a record and a series that are there."""
    rows = served.get("/dashboard/explore.json?status=ok")["rows"]
    row = next(row for row in rows if row["latency_ms"])
    kinds = {"devices": "device_id", "runs": "run_id", "records": "record_id", "trends": "series_id"}
    return [f"/dashboard/{kind}/{row[name]}" for kind, name in kinds.items()]


@pytest.mark.parametrize("size", SIZES)
def test_every_page_loads_without_an_error_and_fits(served: Served, browser: Browser, size: str) -> None:
    with opened(browser, served.address, size) as page:
        for path in (*PAGES, *one_of(served)):
            answer = page.goto(served.address + path)
            assert answer and answer.status == 200, path
            assert page.locator("h1").count() == 1, path
            too_wide = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
            assert not page.evaluate(too_wide), path


def test_no_page_has_a_serious_finding_of_accessibility(served: Served, browser: Browser) -> None:
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    context = browser.new_context(bypass_csp=True)  # the checker is a script in the page, which the policy forbids
    page = context.new_page()
    found = []
    templates = {path.partition("?")[0]: path for path in PAGES if path not in ALIKE}
    for path in (*templates.values(), *one_of(served)):
        page.goto(served.address + path)
        worst = [one for one in axe.run(page).response["violations"] if one["impact"] in ("serious", "critical")]
        found += [(path, one["id"], one["nodes"][0]["html"][:120]) for one in worst]
    context.close()
    assert found == []


def test_names_and_logs_of_results_stay_text(served: Served, browser: Browser) -> None:
    record = served.get("/dashboard/explore.json?status=failed&sort=-started_at")["rows"]
    evil = next(row for row in record if row["model"] == EVIL)
    with opened(browser, served.address) as page:
        for path in (
            "/dashboard",
            "/dashboard/explore?status=failed",
            f"/dashboard/records/{evil['record_id']}",
            f"/dashboard/runs/{evil['run_id']}",
            f"/dashboard/explore?model={EVIL}",
            f"/dashboard/trends?model={EVIL}",
        ):
            page.goto(served.address + path)
            assert EVIL in page.content().replace("&lt;", "<").replace("&gt;", ">").replace("&#34;", '"')
            assert page.evaluate("() => window.hacked") is None


def test_filters_sorting_and_export_keep_the_address(served: Served, browser: Browser) -> None:
    with opened(browser, served.address) as page:
        page.goto(f"{served.address}/dashboard/explore")
        everything = page.locator("#results tbody tr").count()
        page.get_by_text("model", exact=True).first.click()
        page.check("input[name=model][value=tiny-bert]")
        page.click("button:text-is('Apply')")
        assert "model=tiny-bert" in page.url
        names = page.locator("#results tbody th").all_inner_texts()
        assert 0 < len(names) < everything
        assert set(names) == {"tiny-bert"}
        page.click("#results thead a:text-is('latency')")
        assert "sort=-latency_ms" in page.url
        times = [text.split()[0] for text in page.locator("#results tbody td.number").all_inner_texts() if "ms" in text]
        assert times == sorted(times, key=float, reverse=True)
        with page.expect_download() as download:
            page.get_by_role("link", name="CSV").first.click()
        lines = Path(download.value.path()).read_text().splitlines()
        assert lines[0].startswith("record_id,run_id,series_id")
        assert all("tiny-bert" in line for line in lines[1:])
        page.reload()
        assert set(page.locator("#results tbody th").all_inner_texts()) == {"tiny-bert"}


def test_from_the_matrix_down_to_the_samples_by_keyboard(served: Served, browser: Browser) -> None:
    with opened(browser, served.address) as page:
        page.goto(f"{served.address}/dashboard")
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.textContent") == "Skip to the content"
        page.locator("table.heat td:not(.none) a").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/dashboard/explore?**")
        page.locator("#results tbody a:text-is('open')").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/dashboard/records/**")
        assert "Measure it again" in page.locator("main").inner_text()
        assert "dyno run" in page.locator("pre.copy code").inner_text()


def test_without_a_log_in_nothing_can_be_started(served: Served, browser: Browser) -> None:
    with opened(browser, served.address) as page:
        page.goto(f"{served.address}/dashboard/run?model=tiny-bert")
        assert page.locator("button:text-is('Start')").count() == 0
        page.click("text=Log in to start")
        assert "/login" in page.url
        page.fill("input[name=name]", "nobody")
        page.fill("input[name=password]", "wrong password")
        page.click("main button:text-is('Log in')")
        assert "wrong" in page.locator("[role=alert]").inner_text()


@pytest.mark.slow
def test_one_click_runs_and_the_result_is_in_the_chart(served: Served, browser: Browser, logged_in: Any) -> None:
    with opened(browser, served.address, state=logged_in) as page:
        page.goto(f"{served.address}/dashboard/run")
        page.check("input[name=model][value=tiny-bert]")
        page.check("input[name=runtime][value=onnxruntime]")
        expect(page.locator("#estimate")).to_contain_text("1 case")
        page.click("button:text-is('Start')")
        page.wait_for_url("**/dashboard/jobs/*")
        expect(page.locator("#note")).to_contain_text("tiny-bert", timeout=60_000)
        expect(page.locator("#state")).to_have_text("done", timeout=120_000)
        page.wait_for_selector("#records a")
        page.wait_for_timeout(1500)  # the page reloads itself when the job is over
        link = page.locator("#records a").first
        assert "tiny-bert · cpu:0 · onnxruntime" in link.inner_text()
        record = (link.get_attribute("href") or "").rsplit("/", 1)[1]
        page.goto(f"{served.address}/dashboard/models/tiny-bert")
        assert page.locator(f"svg a[href='/dashboard/records/{record}']").count() == 1


@pytest.mark.slow
def test_a_job_can_be_cancelled_and_repeated(served: Served, browser: Browser, logged_in: Any) -> None:
    with opened(browser, served.address, state=logged_in) as page:
        page.goto(f"{served.address}/dashboard/run?model=tiny-bert&effort=publish")
        page.click("button:text-is('Start')")
        page.wait_for_url("**/dashboard/jobs/*")
        page.click("button:text-is('Cancel')")
        expect(page.locator("#state")).to_have_text("cancelled", timeout=60_000)
        page.wait_for_selector("button:text-is('Resume')", timeout=30_000)
        first = page.url
        page.click("button:text-is('Run it again')")
        expect(page).not_to_have_url(first)
        page.click("button:text-is('Cancel')")
        expect(page.locator("#state")).to_have_text("cancelled", timeout=60_000)


@pytest.mark.slow
def test_a_generated_test_is_shown_downloaded_and_run(
    served: Served, browser: Browser, logged_in: Any, tmp_path: Path
) -> None:
    with opened(browser, served.address, state=logged_in) as page:
        page.goto(f"{served.address}/dashboard")
        page.locator("table.heat td.none a").first.focus()
        page.goto(f"{served.address}/dashboard/generate?model=tiny-vit&on=cpu&runtime=onnxruntime")
        shown = page.locator("pre.file").inner_text()
        with page.expect_download() as download:
            page.click("text=Download")
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
    assert file.read_text().strip() == shown.strip()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


def test_a_regression_can_be_explained(served: Served, browser: Browser, logged_in: Any) -> None:
    rows = served.get("/dashboard/trends.json?model=tiny-opt")["rows"]
    with opened(browser, served.address, state=logged_in) as page:
        page.goto(f"{served.address}/dashboard/trends/{rows[0]['series_id']}")
        assert page.locator("svg .alarm").count() >= 1
        page.fill("input[name=text]", "the new allocator")
        page.click("button:text-is('Acknowledge')")
        assert "the new allocator (local" in page.locator("main").inner_text()
