"""`python -m deploy.fleet FILE ...`: what is true of all stacks, and what is done in each.

python -m deploy.fleet fleet.toml check
python -m deploy.fleet fleet.toml nginx > /etc/nginx/cukassza-stacks.conf
python -m deploy.fleet fleet.toml status
python -m deploy.fleet fleet.toml upgrade [--only NAME]
python -m deploy.fleet fleet.toml each [--only NAME] -- migrate --database owner
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from deploy.fleet import asking, front, stacks, upgrading
from deploy.fleet.stacks import FleetError, Stack

COMMANDS = {
    "check": "read the file, and say what is in it",
    "nginx": "print the part of nginx's configuration that leads host names to stacks",
    "status": "ask every stack how it is; 1 where something is to be done",
    "upgrade": "bring each stack to the version that is installed, while it plays, until one fails",
    "each": "run a management command in each stack, one after another, until one fails",
}
#: Stacks that are asked at once.
_AT_ONCE = 16


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command: 0, 1 where a stack is not well or a command has failed, 2 for what cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m deploy.fleet", description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path, help="fleet.toml")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name in ("each", "upgrade"):
            command.add_argument("--only", action="append", default=[], metavar="NAME", help="in this stack alone")
        if name == "each":
            command.add_argument("words", nargs="+", help="the management command and its arguments")
    given = parser.parse_args(arguments)
    try:
        found = stacks.read(given.file)
        if given.command == "each":
            return each(_chosen(found, given.only), given.words)
        if given.command == "upgrade":
            return upgrading.upgrade(_chosen(found, given.only))
    except FleetError as error:
        print(f"fleet: {error}", file=sys.stderr)
        return 2
    if given.command == "status":
        return status(found)
    print(front.nginx(found) if given.command == "nginx" else _listed(found), end="")
    return 0


def status(found: Sequence[Stack]) -> int:
    """Print a line a stack, and what is wrong under it; several versions at once are said, too."""
    with ThreadPoolExecutor(_AT_ONCE) as at_once:
        answers = list(at_once.map(asking.health, found))
    for one in answers:
        houses = "" if one.houses is None else f"  {one.houses} houses"
        state = "drained" if one.stack.drained else "ready" if one.ready else "NOT READY"
        versions, hosts = ", ".join(one.versions) or "-", " ".join(one.stack.hosts)
        print(f"{one.stack.name:16} {state:10} {versions:10}{houses}  {hosts}")
        for problem in one.problems:
            print(f"    {problem}")
    there = sorted({version for one in answers for version in one.versions})
    if len(there) > 1:
        print(f"versions differ: {', '.join(there)}")
    return 0 if all(one.well for one in answers) else 1


def each(found: Sequence[Stack], words: Sequence[str]) -> int:
    """Run the command in each stack in the order of the file; its output goes where ours goes. It stops at the first
    that fails, and says in which stacks it was run and in which not."""
    for number, stack in enumerate(found):
        print(f"--- {stack.name}", flush=True)
        try:
            code = subprocess.run([*stack.command, *words], check=False, stdin=subprocess.DEVNULL).returncode
        except OSError as error:
            print(f"fleet: {stack.name}: {error}", file=sys.stderr)
            code = 2
        if code:
            done, rest = _names(found[:number]), _names(found[number + 1 :])
            said = f"{words[0]} ended with {code} in {stack.name}; done in {done}; not run in {rest}"
            print(f"fleet: {said}", file=sys.stderr)
            return 1
    return 0


def _chosen(found: Sequence[Stack], only: Sequence[str]) -> Sequence[Stack]:
    """All, or those of these names. Raises FleetError for a name that is none."""
    known = {one.name for one in found}
    if unknown := [name for name in only if name not in known]:
        raise FleetError(f"there is no stack {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return [one for one in found if not only or one.name in only]


def _names(found: Sequence[Stack]) -> str:
    return ", ".join(one.name for one in found) or "none"


def _listed(found: Sequence[Stack]) -> str:
    return "".join(
        f"{one.name:16} {one.web:24} {'drained  ' if one.drained else ''}{' '.join(one.hosts)}\n" for one in found
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
