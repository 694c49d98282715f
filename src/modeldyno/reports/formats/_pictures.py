"""Charts and logos as files: drawn without a browser and without a network."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from modeldyno.core.errors import JobError
from modeldyno.reports.document import Chart, Logo

ENDINGS = {"image/svg+xml": ".svg", "image/png": ".png", "image/jpeg": ".jpg"}
_SIZE = re.compile(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"')

_NOT_DRAWN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]")
"""Characters that no SVG can hold (vl-convert 1.9 ends the whole process when it meets one), or turn text round."""


@dataclass(frozen=True)
class Drawing:
    """A chart as a picture on white, also where the page around it is dark."""

    svg: str
    width: float
    height: float
    """In pixels of the page."""

    @property
    def pdf(self) -> bytes:
        """With its fonts, so that its words can be found."""
        import vl_convert

        return vl_convert.svg_to_pdf(self.svg)


def draw(chart: Chart) -> Drawing:
    """The picture of a chart; data have to travel with it, since none are fetched."""
    import vl_convert

    spec = {"background": "white", **_drawable(chart.spec)}
    try:
        svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    except ValueError as error:
        reason = re.sub(r"(?s)^.*?Error: |\n.*", "", str(error))
        raise JobError(f"The chart {chart.name} cannot be drawn ({reason}); use --format json for its data.") from error
    size = _SIZE.match(svg)
    return Drawing(svg, float(size[1]) if size else 640.0, float(size[2]) if size else 300.0)


def _drawable(part: Any) -> Any:
    if isinstance(part, str):
        return _NOT_DRAWN.sub(" ", part)
    if isinstance(part, dict):
        return {key: _drawable(value) for key, value in part.items()}
    return [_drawable(one) for one in part] if isinstance(part, list) else part


def logo_bytes(logo: Logo) -> bytes:
    return base64.b64decode(logo.base64)


def file_names(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """A name for a file, without ending, for each name: unlike all others, also where letters do not differ in case."""
    seen = Counter(taken)
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip(".-")[:80] or "unnamed"
        while seen[plain.lower()]:
            seen[plain.lower()] += 1
            plain = f"{plain}-{seen[plain.lower()]}"
        seen[plain.lower()] += 1
        found[name] = plain
    return found
