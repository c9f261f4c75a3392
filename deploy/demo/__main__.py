"""`python -m deploy.demo`: found a house, play the evening through HTTP, report; `--serve`: keep the newest house up,
`--serve --new`: found one and keep it up.

Exit code 0 only if all of it balances; 1 if anything differs; 2 for what cannot be played.
"""

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console

from deploy import embedded
from deploy.demo import evening, package
from deploy.demo.client import Refused, Terminal
from deploy.demo.evening import EveningError, RecordedTable
from deploy.demo.logins import Credentials, saved
from deploy.demo.play import play_evening
from deploy.demo.proof import archive, export, verify, wait_for
from deploy.demo.report import collect, show
from deploy.demo.seed import ROOT, found_house
from deploy.processes import Processes, ProcessesError, address, application, listen

DEFAULT_PORT = 8041
#: Columns of the report; numbers must not be cut where the output is no terminal.
WIDTH = 100
#: A line of progress every so many hands of a table.
EVERY = 20


def main(arguments: list[str] | None = None) -> int:
    """Run the demo or serve its house; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m deploy.demo", description=__doc__)
    parser.add_argument(
        "evening", type=Path, nargs="?", help="a file of chr/1 records to play instead of the recorded one"
    )
    parser.add_argument("--serve", action="store_true", help="keep the house up until Ctrl-C instead of playing")
    parser.add_argument("--new", action="store_true", help="with --serve: found a new house, in which nothing happened")
    parser.add_argument("--port", type=int, help=f"port to listen on (playing: a free one, serving: {DEFAULT_PORT})")
    options = parser.parse_args(arguments)
    if options.new and not options.serve:
        parser.error("--new goes with --serve: playing founds a new house anyway")
    # A shell that starts us in the background may have SIGINT ignored; SIGTERM should end us in good order too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return (
            serve(options.port or DEFAULT_PORT, options.evening, new=options.new)
            if options.serve
            else play(options.port or 0, options.evening)
        )
    except (EveningError, embedded.EmbeddedError, ProcessesError, Refused) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0 if options.serve else 130


def play(port: int, recorded: Path | None) -> int:
    """Play one evening in a new house; 0 only if all of it balances."""
    started = time.monotonic()
    tables = evening.read(recorded)
    say(f"evening: {sum(len(table.hands) for table in tables.values())} hands at {len(tables)} tables")
    prepare()
    # One core exports and verifies while the house answers the auditor on another, and is stopped.
    with ThreadPoolExecutor(1) as beside:
        with listen(port) as listener, Processes(application(listener)) as processes:
            processes.wait_ready(f"{address(listener)}/readyz")
            say(f"API at {address(listener)}, workers up")
            credentials = found(address(listener), tables.values())
            played = play_evening(address(listener), credentials, tables, progress)
            say("closed; the auditor reads the books, and the trail is exported and verified from outside")
            with Terminal(address(listener), credentials.auditor) as auditor:
                wait_for(auditor, played.closing)
                folder = logins_dir() / f"{credentials.house}.trail"
                exporting = beside.submit(export, credentials.house, folder)
                verifying = beside.submit(lambda: verify(exporting.result()))
                archiving = beside.submit(lambda: archive(exporting.result(), credentials.house, played.day))
                journals = [download(auditor, credentials.house, layout) for layout in ("beancount", "hledger")]
                say("the auditor downloads and signs the day's package")
                packaged = package.fetch(auditor, played.day, logins_dir() / f"{credentials.house}-{played.day}.zip")
                # Now that it is made, nothing is left to do.
                report = collect(auditor, tables, played)
            # The sequencer signs the event of the export.
            exporting.result()
            archived = archiving.result()
        proof, again = verifying.result()
    console = Console(soft_wrap=True, width=WIDTH)
    show(console, report, played)
    console.print(proof.verdict)
    console.print(archived.verdict)
    print(
        "", *proof.lines(again), "", f"Archived in {archived.folder}: {archived.said}", "", *packaged.lines(), sep="\n"
    )
    print(f"\nThe book for other people's programs to add up: {' and '.join(map(str, journals))}")
    good = report.ok and proof.ok and archived.ok and packaged.ok
    print(f"\n{'All of it balances' if good else 'IT DOES NOT BALANCE'}; {time.monotonic() - started:.1f} s")
    return 0 if good else 1


def serve(port: int, recorded: Path | None, *, new: bool) -> int:
    """Keep the newest demo house up, or a new one, and print how to sign in. Founds one where there is none."""
    prepare()
    with embedded.Keeper(), listen(port) as listener, Processes(application(listener)) as processes:
        processes.wait_ready(f"{address(listener)}/readyz")
        credentials = None if new else newest_house(address(listener))
        if credentials is None:
            credentials = found(address(listener), evening.read(recorded).values())
        show_logins(address(listener), credentials)
        threading.Event().wait()
    return 0


def prepare() -> None:
    """Services up, addresses in the environment, migrations applied by the owner."""
    os.environ.update(embedded.ensure().as_environ())
    migrate = [sys.executable, str(ROOT / "manage.py"), "migrate", "--database", "owner", "--verbosity", "0"]
    subprocess.run(migrate, check=True)
    say("services up, migrations applied")


def found(url: str, tables: Iterable[RecordedTable]) -> Credentials:
    """Found the next house and keep its logins."""
    started = time.monotonic()
    new = found_house(url, tables, after=max(saved(logins_dir()), default=0))
    new.credentials.save(logins_dir())
    took = f"{time.monotonic() - started:.1f} s, {new.rehearsed:.1f} s of them rehearsed"
    say(f"house {new.credentials.house} founded, rehearsed and live with {new.requests} requests in {took}")
    return new.credentials


def newest_house(url: str) -> Credentials | None:
    """The newest house whose logins are kept and whose auditor the server lets in: the others are of databases that
    are gone."""
    for path in saved(logins_dir()).values():
        credentials = Credentials.load(path)
        try:
            with Terminal(url, credentials.auditor):
                return credentials
        except Refused as refused:
            say(f"{path.name} is of another database ({refused.code})")
    return None


def logins_dir() -> Path:
    """Where the demo houses' logins are kept."""
    return embedded.var_dir() / "demo"


def download(auditor: Terminal, house: str, layout: str) -> Path:
    """The whole book as a journal, in a file beside the logins."""
    path = logins_dir() / f"{house}.{layout}"
    with path.open("wb") as file:
        auditor.download(f"ledger/export/{layout}", file)
    return path


def show_logins(url: str, credentials: Credentials) -> None:
    """Print the address, the logins and a first request."""
    console = Console(soft_wrap=True)
    console.print(f"\nHouse [bold]{credentials.house}[/bold] is up at {url} (API docs: {url}/api/v1/docs)\n")
    console.print(f"Screens: {url}/console/, where the browser is first made a terminal, by its name and key.")
    console.print("A login works together with its terminal's key, there and with POST /api/v1/sign-in:\n")
    logins = [*credentials.dealers.values(), *credentials.floor.values(), credentials.cashier, credentials.auditor]
    logins += [credentials.cage_supervisor, credentials.cage_manager, credentials.manager, credentials.supervisor]
    logins += [credentials.second_supervisor]
    logins += [*credentials.counters, credentials.admin]
    for login in logins:
        console.print(
            f"  {','.join(login.roles):15} {login.login:24} password {login.password:16} "
            f"terminal {login.terminal:12} key {login.terminal_key}"
        )
    first = credentials.cashier
    console.print(
        f"\nFor example:\n  curl -s {url}/api/v1/sign-in -H 'Content-Type: application/json' -d "
        f'\'{{"login":"{first.login}","password":"{first.password}","terminal":"{first.terminal}",'
        f'"terminal_key":"{first.terminal_key}"}}\'\n\nCtrl-C ends it.',
        markup=False,
        highlight=False,
    )


def say(text: str) -> None:
    """One line of progress on stderr."""
    print(f"demo: {text}", file=sys.stderr, flush=True)


def progress(table: str, number: int, total: int) -> None:
    """A table's progress, now and then."""
    if number % EVERY == 0 or number == total:
        say(f"table {table}: {number} of {total} hands")


if __name__ == "__main__":
    sys.exit(main())
