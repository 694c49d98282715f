"""Qualcomm's neural processors through ONNX Runtime's QNN provider; probed only."""

from __future__ import annotations

import importlib.util
import platform
from pathlib import Path

from modeldyno.platforms import _host_cpu
from modeldyno.platforms._probed_only import ProbedOnly


class QnnPlatform(ProbedOnly):
    name = "qnn"
    colour = "#F89F08"
    runtimes = ("onnxruntime",)
    same_precisions = {"fp16": "float", "fp32": "float", "int8": "w8a8", "uint16": "w8a16"}
    """Names of the same thing over the years: the compiler chooses the number format by itself."""

    def found_here(self) -> str:
        return f"{_processor()}, and {_package()}"

    def needs(self) -> str:
        return "a Snapdragon device with `pip install onnxruntime-qnn`"


def is_snapdragon(root: Path = Path("/")) -> bool:
    """By the device tree on Linux and Android, by the processor's name on Windows."""
    if platform.machine().lower() not in {"aarch64", "arm64"}:
        return False
    tree = _host_cpu.read_text(root / "proc/device-tree/compatible") or ""
    name = f"{platform.processor()} {_host_cpu.describe(root).name}".lower()
    return "qcom," in tree or "snapdragon" in name or "qualcomm" in name


def _processor() -> str:
    if is_snapdragon():
        return "a Snapdragon processor is here"
    return f"no Snapdragon processor here ({platform.machine()})"


def _package() -> str:
    if importlib.util.find_spec("onnxruntime_qnn") is None:
        return "onnxruntime-qnn is not installed"
    if is_snapdragon():
        return "onnxruntime-qnn is installed"
    return "onnxruntime-qnn is installed, whose emulator's times say nothing about a Snapdragon"


MEMBER = QnnPlatform()
