"""Tables of timm's benchmark script: images per second and milliseconds per batch, one row per model."""

from __future__ import annotations

import re
from typing import Any

from modeldyno.importers._document import Document
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import moment_of, number_of, platform_of, truth_of

_FILE = re.compile(
    r"(?P<precision>amp|fp32|fp16|bf16)-(?P<layout>nchw|nhwc)(?:-pt(?P<torch>\d+))?(?:-(?P<cuda>cu\d+))?"
)


class Timm:
    name = "timm"
    about = "benchmark tables of pytorch-image-models (timm)"

    def recognises(self, document: Document) -> bool:
        return bool(document.table) and (
            {"model", "infer_samples_per_sec", "infer_step_time"} <= document.keys
            or {"model", "samples_per_sec", "step_time", "img_size"} <= document.keys
        )

    def read(self, document: Document, sheet: Sheet) -> None:
        table = document.table
        named = _named(document.file)
        for number, row in enumerate(table.rows if table else (), 1):
            self._read_row(sheet, f"row {number}", {**named, **{k: v for k, v in row.items() if v is not None}})

    def _read_row(self, sheet: Sheet, place: str, row: dict[str, Any]) -> None:
        def number(name: str) -> float | None:
            return number_of(row.get(f"infer_{name}", row.get(name)))

        batch, size, macs = number("batch_size"), number("img_size"), number("gmacs")
        parameters, activations = number_of(row.get("param_count")), number("macts")
        date = moment_of(row.get("commit_date"))
        source = str(row.get("source_file") or "")
        commit = str(row["commit"]) if row.get("commit") else None
        sheet.record(
            place,
            run=sheet.run(f"{source} {commit}", started_at=date, name=source or None, commit=commit),
            model=row.get("model"),
            platform=_platform(row),
            device=str(row["hardware"]) if row.get("hardware") else None,
            runtime="torch-compile" if truth_of(row.get("compiled")) else "torch",
            precision=str(row["precision"]) if row.get("precision") else None,
            batch=batch and int(batch),
            shape={"height": int(size), "width": int(size)} if size else {},
            options={"layout": str(row["layout"])} if row.get("layout") else {},
            metrics={
                "latency_mean_ms": row.get("infer_step_time", row.get("step_time")),
                "throughput_per_s": row.get("infer_samples_per_sec", row.get("samples_per_sec")),
                "activations": activations * batch if activations and batch else None,
            },
            parameters=None if parameters is None else round(parameters * 1e6),
            family="vision",
            gflop=2 * macs * batch if macs and batch else None,
            software={"torch": str(row["pytorch"])} if row.get("pytorch") else {},
        )


def _platform(row: dict[str, Any]) -> str | None:
    """`cu124` and the names of cards mean CUDA."""
    said = str(row.get("platform") or "").lower()
    if re.fullmatch(r"cu\d+", said) or str(row.get("hardware", "")).lower().startswith(("rtx", "a100", "h100", "v100")):
        return "cuda"
    return platform_of(said)


def _named(file: str) -> dict[str, str]:
    """What the script's own file names tell and its columns do not: `...-infer-amp-nhwc-pt112-cu113-rtx3090.csv`."""
    name = file.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".csv")
    match = _FILE.search(name)
    if not match:
        return {}
    facts = {"precision": match["precision"], "layout": match["layout"], "source_file": name}
    hardware = name[match.end() :].strip("-")
    return facts | {"platform": match["cuda"] or "cpu"} | ({"hardware": hardware} if hardware else {})


MEMBER = Timm()
