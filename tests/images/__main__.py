"""`make image`: build the image as docs/how-to/run-in-containers.md says, and run a house of it as `compose.yaml` says.

The base is made of Debian's packages, the database asks for passwords, secrets are files. Every process of the house
starts with the image's files read-only and no right; hands are played over HTTP, and a container verifies the house.
Exit code 0 if all of it holds, 1 otherwise. Where the image cannot be built, because there are no tools or no root, the
trial is skipped, with the reason, and the exit code is 0. `--keep` keeps the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from deploy.embedded.binaries import find_valkey
from deploy.embedded.process import signalled_when_parent_dies, wait_until
from deploy.processes import CHECKOUT
from tests import postgres
from tests.ha.programs import Missing, account_of_servers
from tests.images import building
from tests.images.building import Builder, Image
from tests.images.containers import Containers
from tests.postgres import Server
from tests.services import free_port, status_of

LOGINS = ("casino_app", "casino_sequencer")
#: What no image of a house has: tools of developers, and what tests are made of.
FOREIGN = ("tests", "docs", ".git", "var", "requirements.lock", ".venv/bin/pytest", ".venv/bin/mypy")
#: Seconds within which the house is ready.
READY = 90.0


def main() -> int:
    """Build, run, play, verify."""
    parser = argparse.ArgumentParser(prog="make image", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="keep the folder of the image and its house")
    keep = parser.parse_args().keep
    folder = Path(tempfile.mkdtemp(prefix="cukassza-image-", dir="/var/tmp"))
    builder = Builder(folder)
    try:
        building.require()
        base = builder.base()
        say(f"a base is made of packages of Debian {building.RELEASE}")
        image = builder.built(base, "cukassza")
        say("the image is built from deploy/container/Containerfile")
        look_at(image)
        play(image, folder)
        traced = builder.built(base, "cukassza-traced", LOCK="requirements-telemetry.lock")
        assert list(traced.root.glob("srv/cukassza/.venv/lib/python*/site-packages/opentelemetry/sdk"))
        say("the image with traces is built, and has them")
    except Missing as missing:
        print(f"skipped: {missing}")
    finally:
        builder.remove()
        if keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def say(words: str) -> None:
    """A line of what holds."""
    print(f"  {words}", flush=True)


def look_at(image: Image) -> None:
    """The image has what a house needs and nothing of its developers, and its user owns nothing of the code."""
    code = image.root / image.workdir.lstrip("/")
    assert image.user == "10001:10001" and (code / "manage.py").is_file()
    assert not [name for name in FOREIGN if (code / name).exists()]
    wrong = [path for path in code.rglob("*") if _others_may_write(path)]
    assert not wrong, f"others than root may write {wrong[:3]}"
    say("nothing of it is a developer's, and its user may change none of it")


def _others_may_write(path: Path) -> bool:
    found = path.lstat()
    return found.st_uid != 0 or (not path.is_symlink() and bool(found.st_mode & 0o022))


def play(image: Image, folder: Path) -> None:
    """Found a house on every process of the image, play hands to their settlement, verify it."""
    with ExitStack() as stack:
        account = account_of_servers()
        server = stack.enter_context(postgres.running(folder, account, {"max_connections": "100"}))
        broker = stack.enter_context(_broker())
        containers, root = _laid_out(image, folder, server, broker)
        _migrate(containers, server)
        _health_of_the_example(containers, root)
        _settings(folder, root, ["127.0.0.1"])
        stack.callback(lambda: print(*(f"{name}: {code}" for name, code in containers.stop().items()), sep=", "))
        for name in containers.services.keys() - {"migrate"}:
            containers.start(name)
        ready = wait_until(lambda: status_of(f"{root}/readyz") == 200, seconds=READY)
        assert ready, f"{httpx.get(f'{root}/readyz').text}\n{_logs(folder)}"
        say(f"{len(containers.services) - 1} processes are ready")
        _keys_are_apart(containers)
        environ = _host_environ(folder, server, broker)
        done = subprocess.run(
            [sys.executable, str(CHECKOUT / "tests" / "upgrade" / "play.py"), root],
            cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{_logs(folder)}"
        played = json.loads(done.stdout.splitlines()[-1])
        assert (played["hands"], played["refused"], played["repeated"]) == (4, [], {}), played
        say("hands are played and settled")
        for words in (["manage.py", "verify_house", played["house"]], ["manage.py", "doctor"]):
            done = containers.done("web", [*image.entrypoint, *words])
            said = done.stdout.strip().splitlines()
            # The doctor warns of a machine that stands alone: one disk, no witness, no backup.
            well = said[-1].endswith(" 0 failure") if words[1] == "doctor" else done.returncode == 0
            assert well, f"{words}: {done.stdout}\n{done.stderr}"
            say(f"{' '.join(words[:2])}: {said[-1]}")


def _laid_out(image: Image, folder: Path, server: Server, broker: int) -> tuple[Containers, str]:
    """/etc/cukassza as the page says, in a folder, and the containers that mount it; their web's address."""
    port = free_port()
    etc = folder / "etc" / "cukassza"
    (etc / "secrets").mkdir(parents=True)
    (etc / "private").mkdir()
    logins = {"database_owner_url": "casino", "database_url": LOGINS[0], "database_sequencer_url": LOGINS[1]}
    for name, login in logins.items():
        where = etc / ("secrets" if name == "database_url" else "private") / name
        where.write_text(server.url(login, host="database"), encoding="ascii")
    (etc / "secrets" / "redis_url").write_text(f"redis://broker:{broker}/0", encoding="ascii")
    for name in ("secrets/secret_key", "secrets/seal_key", "private/log_key"):
        (etc / name).write_text(secrets.token_hex(32), encoding="ascii")
    for path in etc.rglob("*"):
        shutil.chown(path, 10001, 10001)
        path.chmod(0o700 if path.is_dir() else 0o400)
    root = f"http://127.0.0.1:{port}"
    _settings(folder, root, ["house.example"])
    return Containers(image, folder, {":8000": f":{port}", "10.89.7.2": "127.0.0.1"}), root


def _settings(folder: Path, root: str, hosts: list[str]) -> None:
    """The example of the settings with another address. Queues are named, because this machine's programs name the
    database differently."""
    text = (CHECKOUT / "deploy" / "cukassza.toml").read_text(encoding="utf-8")
    for old, new in {
        'address = "https://house.example"': f'address = "{root}"',
        'allowed_hosts = ["house.example"]': f"allowed_hosts = {json.dumps(hosts)}",
        "[keys]": 'queue_prefix = "image"\n\n[keys]',
    }.items():
        assert text.count(f"\n{old}\n") == 1, old
        text = text.replace(f"\n{old}\n", f"\n{new}\n")
    (folder / "etc" / "cukassza" / "cukassza.toml").write_text(text, encoding="utf-8")


def _migrate(containers: Containers, server: Server) -> None:
    """The owner's login is made with the database, as the server's image does; the two others as the page says."""
    postgres.make_logins(server)
    done = containers.done("migrate", containers.own("migrate"))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    say("migrate has made the tables")


def _health_of_the_example(containers: Containers, root: str) -> None:
    """The web is healthy by compose's own check, which names no host that the settings allow."""
    containers.start("web")
    try:
        assert wait_until(lambda: status_of(f"{root}/livez") != 0, seconds=READY), _logs(containers.folder)
        found = containers.healthy("web")
        assert found.returncode == 0, f"{found.stdout}\n{found.stderr}\n{_logs(containers.folder)}"
    finally:
        containers.stop()
    say("the web is healthy by the check of compose.yaml")


def _keys_are_apart(containers: Containers) -> None:
    """The web reads no secret of the sequencer, and writes nowhere but where it must."""
    tried = """
import os, pathlib
# Another container of the same files left places to mount at, which are empty.
assert not any(path.read_bytes() for path in pathlib.Path("/run").glob("secrets/*")) and os.getuid() == 10001
for place in ("/srv/cukassza/x", "/etc/x", "/var/lib/cukassza/x", "/etc/cukassza/secrets/x"):
    try:
        open(place, "w")
    except OSError:
        continue
    raise SystemExit(place)
"""
    done = containers.done("web", [*containers.image.entrypoint, "-c", tried])
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    say("the web reads no key of the log, and writes to no file of the image, of settings or of checkpoints")


def _host_environ(folder: Path, server: Server, broker: int) -> dict[str, str]:
    """For the programs that found a house and play from this machine: the same servers and keys."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("CASINO_", "DATABASE_"))}
    etc = folder / "etc" / "cukassza"
    environ |= {
        "CASINO_SECRET_KEY": (etc / "secrets" / "secret_key").read_text(),
        "CASINO_SEAL_KEY": f"file:{etc / 'secrets' / 'seal_key'}",
        "DATABASE_URL": server.url(LOGINS[0]),
        "REDIS_URL": f"redis://127.0.0.1:{broker}/0",
        "CASINO_QUEUE_PREFIX": "image",
        "CASINO_CHECKPOINT_DIR": str(folder / "state" / "checkpoints"),
        "CASINO_ARCHIVE_DIR": str(folder / "state" / "archives"),
    }
    return environ


@contextmanager
def _broker() -> Iterator[int]:
    """A Valkey with the options of compose.yaml; yields its port."""
    port = free_port()
    options = ["--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--bind", "127.0.0.1"]
    with subprocess.Popen(
        [str(find_valkey().path), *options, "--port", str(port)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=signalled_when_parent_dies(9),
    ) as process:  # fmt: skip
        try:
            yield port
        finally:
            process.terminate()


def _logs(folder: Path) -> str:
    return "\n".join(f"{path.name}: {path.read_text(errors='replace')[-1500:]}" for path in folder.glob("*.log"))


if __name__ == "__main__":
    sys.exit(main())
