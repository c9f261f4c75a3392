"""The demo house's people and their ways in, kept in a file that only its owner reads; demo passwords are in no
repository."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Login:
    """The credentials for one terminal."""

    login: str
    password: str
    terminal: str
    terminal_key: str
    roles: list[str]


@dataclass(frozen=True, slots=True)
class Credentials:
    """A demo house and everybody's way in: dealers by table, cashier, auditor, floor by table and drawer; who counts
    and supervises is in the office."""

    house: str
    dealers: dict[str, Login]
    cashier: Login
    auditor: Login
    floor: dict[str, Login]
    #: The manager's way in at the office, who opens and closes gaming days.
    manager: Login
    #: The administrator's at the office, who hires, and signs with the auditor.
    admin: Login
    #: The two people of the count team.
    counters: tuple[Login, Login]
    supervisor: Login
    #: Another one, with a password from another administrator than the manager's: who closes days needs that approval.
    second_supervisor: Login
    #: The cage supervisor's way in at the drawer, where floats are counted out and skims taken, and the manager's, who
    #: signs large ones.
    cage_supervisor: Login
    cage_manager: Login

    def save(self, folder: Path) -> None:
        """Keep them for `make run`, readable by the owner only; demo passwords are in no repository."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"{self.house}.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, path: Path) -> "Credentials":
        """The inverse of `save`."""
        data = json.loads(path.read_text())
        return cls(
            house=data["house"],
            dealers={code: Login(**login) for code, login in data["dealers"].items()},
            floor={code: Login(**login) for code, login in data["floor"].items()},
            counters=(Login(**data["counters"][0]), Login(**data["counters"][1])),
            **{name: Login(**data[name]) for name in _ONE},
        )


#: Members of credentials that are one login.
_ONE = ("cashier", "auditor", "manager", "admin", "supervisor", "second_supervisor", "cage_supervisor", "cage_manager")


def saved(folder: Path) -> dict[int, Path]:
    """The files of demo houses in a folder, by the houses' numbers, the newest first."""
    numbered = {int(name[1]): path for path in folder.glob("*.json") if (name := _NAME.fullmatch(path.name))}
    return dict(sorted(numbered.items(), reverse=True))


_NAME = re.compile(r"DEMO-([0-9]{1,9})\.json")
