"""The docs are true: generated pages are current, every word of the code is explained, links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from modeldyno.cli._reference import PAGES
from modeldyno.core.types import Precision, Provenance, Status
from modeldyno.measure import passport
from modeldyno.models import ARCHITECTURES
from modeldyno.platforms import PLATFORMS
from modeldyno.reports.formats import FORMATS
from modeldyno.reports.sections import SECTIONS
from modeldyno.reports.template import Part, kinds
from modeldyno.runner.suite import Block
from modeldyno.runtimes import RUNTIMES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MARKDOWN = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_generated_pages_are_current(page: str) -> None:
    assert (DOCS / page).read_text() == PAGES[page](), "run: python -m modeldyno.cli._reference docs"


def test_the_glossary_has_every_name() -> None:
    text = (DOCS / "glossary.md").read_text()
    names = [*PLATFORMS.names(), *RUNTIMES.names(), *ARCHITECTURES.names(), *Status, *Provenance]
    assert [name for name in names if name not in text] == []


def test_every_key_of_a_suite_is_documented() -> None:
    text = (DOCS / "suites.md").read_text()
    assert [name for name in Block.model_fields if f"`{name}`" not in text] == []
    assert [name for name in Precision if f"`{name.value}`" not in text] == []


def test_every_passport_check_is_documented() -> None:
    source = Path(passport.__file__).read_text()
    names = set(re.findall(r'(?:_at_most|_flag)\("(\w+)"', source))
    assert names
    text = (DOCS / "measuring.md").read_text()
    assert [name for name in names if name not in text] == []


def test_every_kind_section_and_format_of_a_report_is_documented() -> None:
    text = (DOCS / "reports.md").read_text()
    names = [*kinds(None), *SECTIONS.names(), *FORMATS.names(), *Part.model_fields]
    assert [name for name in names if not re.search(rf"`{name}[` ]", text)] == []


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    missing = [t for t in targets if not t.startswith("http") and not (page.parent / t).exists()]
    assert missing == []


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda path: path.name)
def test_every_dyno_command_in_the_docs_exists(page: Path) -> None:
    known = {line.split("`")[1] for line in PAGES["cli.md"]().splitlines() if line.startswith("## ")}
    commands = re.findall(r"\bdyno (?:db |models )?[a-z-]+(?= |`|$)", page.read_text(), re.MULTILINE)
    wrong = [c for c in commands if c not in known and " ".join(c.split()[:2]) not in known]
    assert wrong == []


def test_the_architecture_page_shows_every_room() -> None:
    text = (DOCS / "architecture.md").read_text()
    rooms = [p.name for p in (ROOT / "src" / "modeldyno").iterdir() if (p / "__init__.py").exists()]
    assert [room for room in rooms if room not in text] == []
