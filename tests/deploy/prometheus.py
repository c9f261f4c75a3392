"""Debian's Prometheus: the one that is installed, or one that is unpacked under var/, without root."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deploy import embedded
from deploy.embedded.process import wait_until
from tests import debian

PACKAGE = "prometheus"


def program(name: str) -> Path:
    """`prometheus` or `promtool`. Raises `debian.NotUnpacked`."""
    if installed := shutil.which(name):
        return Path(installed)
    return debian.unpacked(embedded.var_dir() / "prometheus", (PACKAGE,)) / "usr/bin" / name


def tool(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What promtool says to these arguments."""
    command = [str(program("promtool")), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@contextmanager
def running(folder: Path, configuration: str, port: int) -> Iterator[str]:
    """A Prometheus with this configuration, which keeps its data in a folder; its address."""
    (folder / "prometheus.yml").write_text(configuration, encoding="utf-8")
    command = [
        str(program("prometheus")), f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    root = f"http://127.0.0.1:{port}"
    with (folder / "prometheus.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            assert wait_until(lambda: _answers(f"{root}/-/ready"), seconds=60), (folder / "prometheus.log").read_text()
            yield root
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    try:
        with _opener().open(url, timeout=5):
            return True
    except OSError:
        return False


def read(root: str, path: str) -> Any:
    """The data of an answer of Prometheus' API."""
    with _opener().open(f"{root}/api/v1/{path}", timeout=10) as answer:
        return json.load(answer)["data"]


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))  # not through the proxies of the environment
