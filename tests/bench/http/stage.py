"""A house with open Ferbli tables, and what the clients send to them: requests prepared as bytes."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Django is set up when the database is there
    from tests.casino.kit import Kit

#: Tables of each client where every client plays: one settles while the next hand is played at the other.
TABLES_EACH = 2
#: Tables of a client at most.
MOST_TABLES = 8
STACK = 300_000
#: The tax of every hand reaches its cap, which is one chip of this value.
TAX_CAP = 100
#: Chips of that value which the public holds before anybody plays, for as many hands: where it has none, a table's tray
#: breaks a large chip for the tax, and not often.
TAXES = 9_000
#: What lies in a table's tray: change for the largest chip.
TRAY = {1: 100, 5: 100, 25: 100, 100: 100, 500: 50, 1_000: 10, 5_000: 8, 25_000: 4}

_BARE_TABLE = """
CREATE TABLE bench_bare (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    staff_id bigint NOT NULL,
    body jsonb NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A table and the token of its dealer."""

    table: str
    token: str


@dataclass(frozen=True, slots=True)
class Script:
    """A hand as its requests: the body of the deal, then the bodies of the actions."""

    deal: str
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """A house, its tables, and the hands that can be played there, by mode."""

    kit: "Kit"
    places: tuple[Place, ...]
    scripts: dict[str, Script]

    def shared_out(self, clients: int) -> list[list[dict[str, str]]]:
        """The tables of each client, as JSON."""
        each = min(MOST_TABLES, len(self.places) // clients)
        return [[asdict(place) for place in self.places[at * each : (at + 1) * each]] for at in range(clients)]


def scripts() -> dict[str, Script]:
    """The worked hand of the record format in both modes.

    At a real table the console sends a gesture a request, with the cards that it brings. In electronic mode the house
    deals and shows, and every action of a seat is a request; no action of this hand depends on the cards.
    """
    from tests.casino.kit import SAMPLE
    from tests.words import WORDS

    words = WORDS["ferbli"]
    own = [line for line in SAMPLE if not line.startswith("d ") and " sm " not in line]
    gestures = {"physical": words.gestures(list(SAMPLE)), "electronic": [[line] for line in own]}
    return {
        mode: Script(
            _json({"mode": mode}), tuple(_json({"actions": [words.as_action(line) for line in one]}) for one in cut)
        )
        for mode, cut in gestures.items()
    }


def set_up(clients: int) -> Stage:
    """Found a house, and open `clients` times `TABLES_EACH` tables of four."""
    from casino.tables.services import stock_tray
    from tests.casino.kit import ACTOR, FERBLI, Kit

    kit = Kit.found()
    codes = [f"B{number}" for number in range(clients * TABLES_EACH)]
    for code in codes:
        # The trays first: later the vault's change lies in the cashier's drawer.
        table = kit.table_for("ferbli", FERBLI | {"tax_cap": TAX_CAP}, code=code, seats=4, tray=0)
        stock_tray(table=table, pieces=TRAY, actor=ACTOR)
    kit.players("taxes", pieces={TAX_CAP: TAXES})
    return Stage(kit, tuple(Place(code, _token(kit, code)) for code in codes), scripts())


def unsettled(kit: "Kit") -> int:
    """How many messages of the house's outbox wait for the worker."""
    from casino.houses.models import OutboxMessage

    return OutboxMessage.objects.filter(house=kit.house, done_at=None).count()


def bare_rows() -> int:
    """How many rows the bare view has written."""
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM bench_bare")
        return int(cursor.fetchone()[0])


def _token(kit: "Kit", code: str) -> str:
    """Seat four players at a table; the token of its dealer."""
    header = kit.seated(code, stacks=(STACK,) * 4).http.headers["Authorization"]
    return str(header).removeprefix("Bearer ")


def create_bare_table() -> None:
    """The bare view's table. Servers are not ready while the database has a table that no migration made: call it
    when they are."""
    from django.conf import settings
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_bare")
        cursor.execute(_BARE_TABLE)
        cursor.execute(f'GRANT INSERT ON bench_bare TO "{settings.CASINO_APP_ROLE}"')


def _json(body: dict[str, Any] | Sequence[Any]) -> str:
    return json.dumps(body, separators=(",", ":"))
