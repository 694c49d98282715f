"""WebNN in a browser; probed only."""

from __future__ import annotations

from modeldyno.platforms import _browsers
from modeldyno.platforms._probed_only import ProbedOnly


class WebnnPlatform(ProbedOnly):
    name = "webnn"
    in_browser = True
    colour = "#7D4193"
    runtimes = ("ort-web",)

    def found_here(self) -> str:
        if browser := _browsers.chromium():
            return f"the browser {browser} is here, and whether its build has WebNN only starting it can tell"
        if firefox := _browsers.firefox():
            return f"only {firefox} was found, and Firefox has no WebNN"
        return "no browser with WebNN (Chromium, Chrome, Edge) was found"

    def needs(self) -> str:
        return "Chromium, Chrome or Edge in a build with a WebNN backend (Debian's has none)"


MEMBER = WebnnPlatform()
