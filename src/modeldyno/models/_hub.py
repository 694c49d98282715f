"""What the local Hugging Face cache and model folders hold, by looking at the files alone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

_WEIGHT_PATTERNS = ("*.safetensors", "pytorch_model*.bin", "diffusion_pytorch_model*.bin")
_PIPELINE_PARTS = ("unet", "transformer")
_SAMPLES = 64
_SAMPLE_BYTES = 65536


def hub_cache() -> Path:
    """Where huggingface_hub keeps its downloads."""
    if direct := os.environ.get("HF_HUB_CACHE"):
        return Path(direct)
    if home := os.environ.get("HF_HOME"):
        return Path(home) / "hub"
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "huggingface" / "hub"


def snapshot(repo_id: str) -> Path | None:
    """The cached copy of a repository that has a configuration; the one `main` points at if there are several."""
    folder = hub_cache() / f"models--{repo_id.replace('/', '--')}"
    found = sorted(path for path in folder.glob("snapshots/*") if model_folder(path))
    main = folder / "refs" / "main"
    wanted = main.read_text().strip() if main.is_file() else None
    return next((path for path in found if path.name == wanted), found[-1] if found else None)


def model_folder(path: Path) -> Path | None:
    """The folder with the model's config.json; a diffusers pipeline keeps its denoiser one level down."""
    if (path / "config.json").is_file():
        return path
    parts = (path / part for part in _PIPELINE_PARTS)
    return next((part for part in parts if (part / "config.json").is_file()), None)


def weight_files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(path for pattern in _WEIGHT_PATTERNS for path in folder.glob(pattern)))


def files_digest(paths: Iterable[Path]) -> str:
    """Hash of large files from their sizes and evenly spaced samples: reading them whole would take minutes."""
    content = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        content.update(f"{path.name}:{size}".encode())
        with path.open("rb") as file:
            for index in range(_SAMPLES):
                file.seek(size * index // _SAMPLES)
                content.update(file.read(_SAMPLE_BYTES))
    return content.hexdigest()[:16]
