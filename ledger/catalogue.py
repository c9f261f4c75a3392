"""The database's catalogue: every object that somebody made in it, compared with what the migrations make.

`catalogue.txt` declares the ledger's objects, a line for each: the SHA-256 of its text (as `catalogue.sql` writes it),
and its name. What a project makes besides the ledger it may declare in a file of its own and compare the whole
(`compare`). `make catalogue` writes the files again after a change of the migrations.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.utils import CursorWrapper

from ledger.findings import Finding
from ledger.roles import app_role

FILE = Path(__file__).with_name("catalogue.txt")
_QUERY = FILE.with_suffix(".sql").read_text(encoding="utf-8")
#: Kinds of objects that belong to the ledger if their names begin with `ledger_`.
_KINDS = ("table", "column", "constraint", "index", "trigger", "function", "rule", "policy", "sequence", "view",
          "triggers of constraint", "rights on table", "rights on column", "rights on function",
          "rights on sequence")  # fmt: skip
_BEGINNINGS = tuple(f"{kind} ledger_" for kind in _KINDS)
_CAST = re.compile(r"'(?:[^']|'')*'::character varying")
_CAST_LIST = re.compile(rf"\(ARRAY\[({_CAST.pattern}(?:, {_CAST.pattern})*)\]\)::text\[\]")
_CAST_ITEM = r"(\g<0>)::text"
#: Characters of an object's text that a finding shows.
_SHOWN = 300


def read(cursor: CursorWrapper, roles: Mapping[str, str], *, schema: str) -> dict[str, str]:
    """Every object of the database and its text: "trigger TABLE.NAME", "function NAME(TYPES)", "rights on ...".

    `roles` gives the words that stand for names of roles, `schema` is that of the tables. Call it in a transaction: the
    search path of the connection, which the database or a role may set, is not used, and is the same again afterwards.
    """
    cursor.execute("SELECT pg_catalog.current_setting('search_path')")
    before = cursor.fetchone()[0]
    cursor.execute("SET LOCAL search_path = pg_catalog")
    cursor.execute(_QUERY, {"home": schema, "roles": json.dumps(dict(roles))})
    objects = {name: as_restored(text) for name, text in cursor.fetchall()}
    cursor.execute("SELECT pg_catalog.set_config('search_path', %s, true)", [before])
    return objects


def as_restored(text: str) -> str:
    """The text of an object as it is written after a dump was restored: PostgreSQL reads `kind IN ('a', 'b')` of a
    varchar as a cast of the list, writes it out, and reads that as a list of casts."""
    return _CAST_LIST.sub(lambda found: f"ARRAY[{_CAST.sub(_CAST_ITEM, found[1])}]", text)


def digest(text: str) -> str:
    """SHA-256 of an object's text, 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def declared_in(file: Path) -> dict[str, str]:
    """The digests by object that a file declares."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return {name: digits for digits, _, name in (line.partition("  ") for line in lines)}


def write(file: Path, digests: Mapping[str, str]) -> None:
    """Declare these digests by object in a file."""
    lines = [f"{digits}  {name}\n" for name, digits in sorted(digests.items())]
    file.write_text("".join(lines), encoding="utf-8")


def compare(
    there: Mapping[str, str], wanted: Mapping[str, str], newer: Callable[[], Mapping[str, str]] = dict
) -> list[Finding]:
    """The differences between the texts of objects and the digests declared: missing, additional, changed ones.

    `newer` gives the digests that a release which replaces this one declares, and is asked only if something differs:
    an object may be as either says. One that this release wants is not missing because the newer one has none, which
    must not take anything away.
    """
    found = sorted(name for name in there.keys() | wanted.keys() if not _declares(wanted, there, name))
    others = newer() if found else {}
    return [
        Finding("catalogue", name, _difference(wanted.get(name), there.get(name)))
        for name in found
        if not _declares(others, there, name)
    ]


def _declares(wanted: Mapping[str, str], there: Mapping[str, str], name: str) -> bool:
    """Whether an object is there, and as declared."""
    return name in there and wanted.get(name) == digest(there[name])


def _difference(wanted: str | None, there: str | None) -> str:
    """The difference of an object in words."""
    if there is None:
        return "is missing"
    shown = there if len(there) <= _SHOWN else f"{there[:_SHOWN]}..."
    if wanted is None:
        return f"was made by no migration: {shown}"
    return f"differs from what the migrations make: {shown}"


def is_of_the_ledger(name: str, others: Iterable[str]) -> bool:
    """Whether an object belongs to the ledger; `others` are triggers on its tables that do not, "TABLE.NAME" each."""
    return name.startswith(_BEGINNINGS) and name not in {f"trigger {one}" for one in others}


def found(*, using: str = DEFAULT_DB_ALIAS) -> dict[str, str]:
    """The ledger's objects in the database.

    Triggers that a project adds to the ledger's tables (`settings.LEDGER_OTHER_TRIGGERS`, "TABLE.NAME" each) are left
    to the project.
    """
    others = list(getattr(settings, "LEDGER_OTHER_TRIGGERS", ()))
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute("SELECT relnamespace::regnamespace::text FROM pg_catalog.pg_class "
                       "WHERE oid = pg_catalog.to_regclass('ledger_entry')")  # fmt: skip
        there = read(cursor, {app_role(): "@app@"}, schema=cursor.fetchone()[0])
    return {name: text for name, text in there.items() if is_of_the_ledger(name, others)}


@cache
def declared() -> Mapping[str, str]:
    """The digests of the ledger's objects, from the file that is shipped with the code."""
    return declared_in(FILE)


def differences(*, using: str = DEFAULT_DB_ALIAS, newer: Callable[[], Mapping[str, str]] = dict) -> list[Finding]:
    """The differences between the database and what the ledger's migrations make; `newer` as `compare` takes it."""
    return compare(found(using=using), declared(), newer)
