"""`python -m deploy.client FOLDER`: make the package `cukassza_client` and its wheel.

python -m deploy.client var/client
python -m deploy.client FOLDER --schema schema.json     # of another house: GET /api/v1/schema
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
PACKAGE = "cukassza_client"
_PROJECT = """[build-system]
requires = ["uv_build>=0.9,<1"]
build-backend = "uv_build"

[project]
name = "cukassza-client"
version = "{version}"
description = "A client of the API of Cukassza, made from its description."
readme = "README.md"
requires-python = ">=3.11"
license = "MIT"
dependencies = ["httpx>=0.27,<1", "attrs>=23", "python-dateutil>=2.9,<3"]

[tool.uv.build-backend]
module-name = "{package}"
"""
#: What the generator leaves out are answers that are no JSON: files, streams, text.
_LEFT_OUT = "Unsupported content_type"


class NotMade(Exception):
    """The package could not be made; the message is for a person."""

    code = "client_not_made"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make it; 2 where it cannot be made."""
    parser = argparse.ArgumentParser(prog="python -m deploy.client", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="where the package comes to lie; what is there is replaced")
    parser.add_argument("--schema", type=Path, help="the OpenAPI document as JSON; default: that of this checkout")
    given = parser.parse_args(arguments)
    try:
        print(wheel(make(given.folder, given.schema or described(given.folder))))
    except NotMade as error:
        print(f"client: {error}", file=sys.stderr)
        return 2
    return 0


def described(folder: Path) -> Path:
    """The OpenAPI document of this checkout, in a file of the folder. Raises NotMade."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "schema.json"
    _run([sys.executable, str(CHECKOUT / "manage.py"), "spectacular", "--format", "openapi-json", "--file", str(path)])
    return path


def make(folder: Path, schema: Path) -> Path:
    """The source of the package in a folder: generated operations and models, `house`, examples. Raises NotMade."""
    source = folder / "src" / PACKAGE
    if source.exists():
        shutil.rmtree(source)
    source.parent.mkdir(parents=True, exist_ok=True)
    generate(schema, source)
    shutil.copy(HERE / "house.py", source / "house.py")
    (folder / "examples").mkdir(exist_ok=True)
    for example in (HERE / "examples").glob("*.py"):
        shutil.copy(example, folder / "examples")
    version = json.loads(schema.read_text(encoding="utf-8"))["info"]["version"]
    (folder / "pyproject.toml").write_text(_PROJECT.format(version=version, package=PACKAGE), encoding="utf-8")
    shutil.copy(CHECKOUT / "docs" / "how-to" / "write-a-program.md", folder / "README.md")
    shutil.copy(CHECKOUT / "LICENSE", folder / "LICENSE")
    return folder


def generate(schema: Path, source: Path) -> None:
    """What the generator makes of an OpenAPI document, as a package in a folder that is not there yet. Raises NotMade,
    also where it has not understood something."""
    with tempfile.TemporaryDirectory(prefix="cukassza-g-") as folder:
        config = Path(folder) / "config.json"
        config.write_text(json.dumps({"post_hooks": []}), encoding="utf-8")
        said = _run([
            sys.executable, "-m", "openapi_python_client", "generate", "--path", str(schema), "--meta", "none",
            "--output-path", str(source), "--config", str(config),
        ])  # fmt: skip
    unclear = [what for what, why in re.findall(r"(WARNING parsing .*)\n+(.*)", said) if _LEFT_OUT not in why]
    if unclear:
        raise NotMade("; ".join(unclear))


def wheel(folder: Path) -> Path:
    """The wheel of a made package. Raises NotMade."""
    shutil.rmtree(folder / "dist", ignore_errors=True)
    _run([sys.executable, "-m", "uv", "build", "--quiet", "--offline", "--wheel", str(folder)])
    [found] = (folder / "dist").glob("*.whl")
    return found


def _run(command: list[str]) -> str:
    """All that a command says. Raises NotMade where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotMade(f"{command[2]} ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-2000:]}")
    return done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
