"""A real `dyno serve` in a process of its own, for tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import IO, Any


class Served:
    """Ends with the block; `kill` ends it as a power cut would."""

    def __init__(self, store: Path, *options: str) -> None:
        self.store, self._options = store, options

    def __enter__(self) -> Served:
        command = [sys.executable, "-m", "modeldyno", "serve", "--port", "0", "--json", "--store", str(self.store)]
        self._process = subprocess.Popen(
            [*command, *self._options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        assert self._process.stdout and self._process.stderr
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(self._process.stderr,), daemon=True)
        self._reader.start()
        text = ""
        while "}" not in text:
            line = self._process.stdout.readline()
            assert line, f"the server ended: {''.join(self.log)}"
            text += line
        told = json.loads(text)
        self.address: str = told["address"]
        self.link: str | None = told["one_time_link"]
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(40)
            except subprocess.TimeoutExpired:
                self.kill()
        self._close()

    @property
    def code(self) -> int | None:
        return self._process.poll()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(30)
        self._close()

    def get(self, path: str, token: str | None = None) -> Any:
        request = urllib.request.Request(self.address + path, headers=_headers(token))
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def post(self, path: str, body: bytes, token: str, media: str = "application/json") -> Any:
        headers = {**_headers(token), "Content-Type": media}
        request = urllib.request.Request(self.address + path, body, headers, method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def _read(self, stream: IO[str]) -> None:
        self.log.extend(stream)

    def _close(self) -> None:
        self._reader.join(10)
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()


def _headers(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}
