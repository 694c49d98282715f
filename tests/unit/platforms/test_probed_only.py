import pytest

from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Case
from modeldyno.platforms import _browsers, qnn, webgpu, webnn


@pytest.fixture
def installed(monkeypatch):
    """Only these commands are on the path."""

    def install(*commands, gpu=False):
        monkeypatch.setattr(_browsers.shutil, "which", lambda name: f"/usr/bin/{name}" if name in commands else None)
        monkeypatch.setattr(_browsers, "render_node", lambda: gpu)
        monkeypatch.setattr(webgpu.platform, "system", lambda: "Linux")

    return install


@pytest.mark.parametrize("member", [qnn.MEMBER, webgpu.MEMBER, webnn.MEMBER])
def test_what_cannot_run_says_so_everywhere(member):
    probe = member.probe()
    assert not probe.present
    assert f"looks for {member.name} but cannot run on it yet" in probe.reason
    assert "will need" in probe.remedy
    with pytest.raises(Unsupported, match="cannot be opened"):
        member.open(0)
    assert "yet" in member.refuses(Case(model="m", platform=member.name, runtime=member.runtimes[0]))


def test_webgpu(installed):
    installed()
    assert "no browser with WebGPU" in webgpu.MEMBER.probe().reason
    installed("firefox-esr")
    assert "/usr/bin/firefox-esr is here but no GPU" in webgpu.MEMBER.probe().reason
    installed("chromium", gpu=True)
    assert webgpu.MEMBER.probe().reason.startswith("the browser /usr/bin/chromium is here;")


def test_webnn(installed):
    installed()
    assert "no browser with WebNN" in webnn.MEMBER.probe().reason
    installed("firefox")
    assert "Firefox has no WebNN" in webnn.MEMBER.probe().reason
    installed("google-chrome")
    assert "/usr/bin/google-chrome is here" in webnn.MEMBER.probe().reason


@pytest.mark.parametrize("package", [None, object()])
def test_qnn_on_a_host_that_is_no_snapdragon(monkeypatch, package):
    monkeypatch.setattr(qnn.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(qnn.importlib.util, "find_spec", lambda name: package)
    reason = qnn.MEMBER.probe().reason
    assert "no Snapdragon processor here (x86_64)" in reason
    assert ("emulator" if package else "is not installed") in reason


def test_qnn_knows_a_snapdragon(monkeypatch, tmp_path):
    monkeypatch.setattr(qnn.platform, "machine", lambda: "aarch64")
    assert not qnn.is_snapdragon(tmp_path) or "qualcomm" in qnn.platform.processor().lower()
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/device-tree/compatible").write_text("acme,phone\0qcom,sm8650\0")
    assert qnn.is_snapdragon(tmp_path)
