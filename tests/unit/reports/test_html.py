"""The page: everything is in it, nothing breaks out, and a real browser shows it without asking anybody."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import world

from modeldyno.reports.formats import FORMATS
from modeldyno.reports.order import Order, compose
from modeldyno.store.store import Store

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NOW = datetime(2026, 11, 15, 8, 30, tzinfo=UTC)
HOSTILE = [
    "<script>document.title='broken'</script>",
    "</script><img src=x onerror=\"document.title='broken'\">",
    '" onmouseover="x',
    "</style><b>",
    "{{ 7 * 7 }}",
    "😀" * 50,
    "a-very-long-name" * 13,
]


def page_of(store: Store, kind: str = "summary", **changes: object) -> str:
    document = compose(Order.model_validate({"kind": kind, **changes}), store, NOW, lambda *_: None)
    (content,) = FORMATS.get("html").render(document, "page").values()
    return content.decode()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    run = world.a_run()
    models = ["alpha", "beta", *HOSTILE]
    path = tmp_path_factory.mktemp("html") / "s.duckdb"
    return world.a_store(path, run, *world.records(run, models, ("cpu", "cuda", "openvino")))


@pytest.fixture(scope="module")
def page(store: Store) -> str:
    return page_of(store)


class Tags(HTMLParser):
    """All that opens, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.opened: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def test_every_chart_has_a_title_and_words_for_who_cannot_see_it(page: str) -> None:
    tags = Tags(page)
    drawings = [attributes for _, attributes in tags.opened if "data-chart" in attributes]
    assert len(drawings) > 2
    assert all(len(drawing["aria-label"] or "") > 20 for drawing in drawings)
    assert page.count('<figure class="chart"') == len(drawings)
    figures = page.split('<figure class="chart"')[1:]
    assert all("<figcaption>" in figure.split("</figure>")[0] for figure in figures)


def test_names_are_shown_and_never_become_markup(page: str) -> None:
    tags = Tags(page)
    assert "img" not in [tag for tag, _ in tags.opened]
    assert not any("onmouseover" in attributes or "onerror" in attributes for _, attributes in tags.opened)
    text = "".join(tags.said)
    assert all(name in text for name in HOSTILE)
    assert "49" not in text.split("{{ 7 * 7 }}")[0][-3:]


def test_nothing_in_it_comes_from_elsewhere(page: str) -> None:
    tags = Tags(page)
    leading_out = [
        value
        for _, attributes in tags.opened
        for name, value in attributes.items()
        if name in ("src", "href") and not (value or "").startswith(("#", "data:"))
    ]
    assert leading_out == []


def test_marked_rows_are_marked(tmp_path: Path) -> None:
    run = world.a_run()
    made_up = world.a_record(run, provenance="simulated")
    page = page_of(world.a_store(tmp_path / "s.duckdb", run, made_up), "performance", words={"provenance": "simulated"})
    assert '<span class="mark">simulated</span>' in page


def test_a_day_is_not_broken_over_two_lines(page: str) -> None:
    assert '<td class="plain day">2026-03-01</td>' in page
    assert ".day { font-variant-numeric: tabular-nums; white-space: nowrap; }" in page


def test_an_empty_store_makes_a_page(tmp_path: Path) -> None:
    page = page_of(Store(tmp_path / "none.duckdb"))
    assert "dyno run" in page
    assert "vegaEmbed=" not in page, "a page without charts needs no script for them"


@pytest.fixture(scope="module")
def opened(store: Store, page: str, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page)
    tab = browser.new_page(viewport={"width": 1200, "height": 900})
    troubles: list[str] = []
    tab.on("request", lambda request: troubles.append(request.url) if not request.url.startswith("file:") else None)
    tab.on("pageerror", lambda error: troubles.append(str(error)))
    tab.goto(path.as_uri())
    tab.wait_for_function("[...document.querySelectorAll('[data-chart]')].every(e => e.dataset.drawn)", timeout=60_000)
    tab.troubles = troubles  # type: ignore[attr-defined]
    yield tab
    tab.close()


@pytest.mark.slow
def test_a_real_browser_draws_all_charts_and_asks_nobody(opened: Page) -> None:
    assert [trouble for trouble in opened.troubles if not trouble.startswith(("data:", "blob:"))] == []  # type: ignore[attr-defined]
    assert opened.title() == "Summary"
    empty = opened.evaluate(
        "[...document.querySelectorAll('[data-chart]')].filter(e => !e.querySelector('svg')).length"
    )
    assert empty == 0


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_fits_its_window(opened: Page, width: int) -> None:
    opened.set_viewport_size({"width": width, "height": 800})
    opened.wait_for_timeout(300)
    assert opened.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_a_click_on_a_heading_sorts_the_table(opened: Page) -> None:
    first = "#what-to-use table td:nth-child(5)"
    opened.set_viewport_size({"width": 1200, "height": 900})
    opened.locator("#what-to-use table th:nth-child(5) button").first.click()
    values = [float(cell.get_attribute("data-value") or "nan") for cell in opened.locator(first).all()]
    assert values == sorted(values)


@pytest.mark.slow
def test_dark_and_light_differ_in_text_and_charts(opened: Page) -> None:
    def colours() -> list[str]:
        return [
            opened.evaluate("getComputedStyle(document.body).color"),
            opened.evaluate("getComputedStyle(document.querySelector('.role-axis-label text')).fill"),
        ]

    opened.emulate_media(color_scheme="light")
    light = colours()
    opened.emulate_media(color_scheme="dark")
    dark = colours()
    opened.emulate_media(media="print", color_scheme="dark")
    assert all(a != b for a, b in zip(light, dark, strict=True))
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
