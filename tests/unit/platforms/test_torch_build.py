from modeldyno.platforms import _torch_build
from modeldyno.platforms._torch_build import TorchBuild, parse


def test_reads_plain_and_annotated_constants():
    source = "from typing import Optional\n__version__ = '2.13.0+cu128'\ncuda: Optional[str] = '12.8'\nhip = None\n"
    assert parse(source) == TorchBuild("2.13.0+cu128", "12.8", None)


def test_reads_a_hip_build():
    assert parse("__version__ = '2.9'\ncuda = None\nhip = '6.4.43'\n") == TorchBuild("2.9", None, "6.4.43")


def test_finds_the_installed_one_without_importing_it(install_torch):
    install_torch(cuda="12.8")
    assert _torch_build.find() == TorchBuild("2.11.0", "12.8", None)


def test_none_where_torch_is_missing(no_torch):
    assert _torch_build.find() is None


def test_a_broken_version_file_is_a_build_for_nothing(install_torch, tmp_path):
    install_torch(cuda="12.8")
    (tmp_path / "torch" / "version.py").write_text("cuda = (")
    assert _torch_build.find() == TorchBuild("unknown", None, None)
