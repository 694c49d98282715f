"""One HTML file that needs nothing else: charts to point at, tables to sort; light, dark, on paper, on a phone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from modeldyno.reports import words
from modeldyno.reports.document import Document

if TYPE_CHECKING:
    from markupsafe import Markup

_FOLDER = files(__package__) / "page"


class Html:
    ending = ".html"

    def render(self, document: Document, stem: str) -> Mapping[str, bytes]:
        import vl_convert
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup

        pages = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        page = pages.from_string(_read("page.html")).render(
            document=document,
            style=Markup(_read("page.css")),
            script=Markup(_read("page.js")),
            library=_script(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")) if document.charts else "",
            specs=_data({chart.name: chart.spec for chart in document.charts}),
            words=words,
        )
        return {f"{stem}.html": page.encode()}


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _script(text: str) -> Markup:
    """A script inside of the page: nothing in it may look like the end of it."""
    from markupsafe import Markup

    return Markup(re.sub("</(?=script)", r"<\\/", text, flags=re.IGNORECASE))


def _data(specs: dict[str, Any]) -> Markup:
    """The same for data."""
    from markupsafe import Markup

    return Markup(json.dumps(specs, sort_keys=True).replace("<", "\\u003c"))


MEMBER = Html()
