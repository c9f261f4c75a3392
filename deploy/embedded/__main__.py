"""`python -m deploy.embedded up|status|down|env|remove`: a real PostgreSQL and Valkey without root or Docker.

up       start what DATABASE_URL and REDIS_URL do not already name
status   say what runs
down     stop it, keep the data
env      print the addresses and keys for `eval "$(python -m deploy.embedded env)"`
remove   stop it and remove all its data

Exit codes: 0 done (status: everything answers), 2 an expected problem (one line on stderr), 3 status:
something is not running.
"""

from __future__ import annotations

import argparse
import sys

from deploy.embedded import EmbeddedError, down, ensure, remove, status, urls

EXIT_PROBLEM = 2
EXIT_NOT_RUNNING = 3


def show_status() -> int:
    """Print one line per service."""
    services = status()
    for service in services:
        state = "not running" if service.version is None else f"running {service.version}".strip()
        print(f"{service.name:<10}  {service.where:<8}  {'' if service.where == 'given' else state}".rstrip())
    return EXIT_NOT_RUNNING if any(service.version is None for service in services) else 0


def run(command: str) -> int:
    """Do what the command says and return the exit code."""
    if command == "up":
        ensure()
    elif command == "down":
        down()
    elif command == "remove":
        remove()
    elif command == "env":
        sys.stdout.write(urls().as_exports())
    return show_status() if command in ("up", "status") else 0


def main(argv: list[str] | None = None) -> int:
    """Parse the command line and run it."""
    parser = argparse.ArgumentParser(prog="python -m deploy.embedded", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", choices=("up", "status", "down", "env", "remove"))
    try:
        return run(parser.parse_args(argv).command)
    except EmbeddedError as error:
        print(f"embedded services: {error} [{error.code}]", file=sys.stderr)
        return EXIT_PROBLEM
    except OSError as error:  # disk full, no permission: nothing that a traceback would explain better
        print(f"embedded services: {error} [os_error]", file=sys.stderr)
        return EXIT_PROBLEM


if __name__ == "__main__":
    sys.exit(main())
