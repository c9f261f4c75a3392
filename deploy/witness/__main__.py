"""`python -m deploy.witness`: make a witness, name the logs it knows, and run it.

python -m deploy.witness init FOLDER --name witness.example/w1
python -m deploy.witness add FOLDER VKEY
python -m deploy.witness rotate FOLDER FILE
python -m deploy.witness remove FOLDER VKEY
python -m deploy.witness serve FOLDER --listen 127.0.0.1:8100
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from deploy.witness.checking import Malformed
from deploy.witness.register import Refused, Register
from deploy.witness.server import WitnessServer

COMMANDS = {
    "init": "make a witness with a new key", "add": "name a log by its key", "remove": "forget a log's key",
    "rotate": "take another key for a log", "key": "print the witness's key", "serve": "answer",
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 2 for what cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m deploy.witness", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        command.add_argument("folder", type=Path)
        if name == "init":
            command.add_argument("--name", required=True, help="under which it signs, such as witness.example/w1")
        elif name == "rotate":
            command.add_argument("file", type=Path, help="the note that both keys of the log have signed")
        elif name in ("add", "remove"):
            command.add_argument("vkey", help="the log's key, as the house's auditors read it (GET audit/key)")
        elif name == "serve":
            command.add_argument("--listen", default="127.0.0.1:8100", help="HOST:PORT")
    given = parser.parse_args(arguments)
    try:
        run(given)
    except (OSError, Malformed, Refused, ValueError) as error:
        print(f"witness: {error}", file=sys.stderr)
        return 2
    return 0


def run(given: argparse.Namespace) -> None:
    """Run the command that was given. Raises OSError, Malformed, Refused, ValueError."""
    if given.command == "init":
        print(Register.create(given.folder, given.name).cosigner.vkey)
        return
    register = Register(given.folder)
    if given.command == "add":
        register.add_log(given.vkey)
    elif given.command == "remove":
        register.remove_log(given.vkey)
    elif given.command == "rotate":
        register.rotate(given.file.read_text(encoding="utf-8"))
    elif given.command == "key":
        print(register.cosigner.vkey)
    else:
        serve(given.folder, given.listen)


def serve(folder: Path, listen: str) -> None:
    """Answer until interrupted."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    host, _, port = listen.rpartition(":")
    with WitnessServer((host, int(port)), Register(folder)) as server:
        print(f"witness {server.register.cosigner.name} on http://{host}:{server.server_address[1]}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    sys.exit(main())
