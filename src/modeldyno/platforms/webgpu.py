"""WebGPU in a browser; probed only."""

from __future__ import annotations

import platform

from modeldyno.platforms import _browsers
from modeldyno.platforms._probed_only import ProbedOnly


class WebgpuPlatform(ProbedOnly):
    name = "webgpu"
    in_browser = True
    colour = "#38BAFA"
    runtimes = ("ort-web",)

    def found_here(self) -> str:
        browser = _browsers.chromium() or _browsers.firefox()
        if browser is None:
            return "no browser with WebGPU (Chromium, Chrome, Edge, Firefox) was found"
        if platform.system() == "Linux" and not _browsers.render_node():
            return f"the browser {browser} is here but no GPU: WebGPU would be emulated on the processor"
        return f"the browser {browser} is here"

    def needs(self) -> str:
        return "such a browser and a GPU it can use"


MEMBER = WebgpuPlatform()
