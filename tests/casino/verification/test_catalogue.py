"""The database's catalogue: as declared after the migrations, and every change of it a finding that names the object.

Changes are made as a superuser and put back. Most are compared inside the transaction that makes them; those of which
the verifier must not be deceived are committed.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connections, transaction

from casino.audit.models import Event
from casino.audit.services import Actor
from casino.core import sql
from casino.core.errors import LogRolledBack
from casino.reports import tasks
from casino.reports.verifying import verification
from casino.verification import auditing, catalogue
from deploy.embedded.binaries import find_postgres
from ledger import catalogue as reader
from tests import kept_connections
from tests.casino.kit import Kit
from tests.casino.superuser import unguarded

OWNER = "owner"
#: Functions that set no search path: they run with every posting and every line, and name every table in full; the
#: others name none and are expressions that PostgreSQL reads when they are made, and puts in place, which a search path
#: would prevent.
HOT = {"audit_require_recorded", "hands_line_in_order", "hands_while_played"}
INLINE = {"core_utc", "ledger_bytes", "ledger_first_laned", "ledger_seal_of"}


def differences(statement: str) -> dict[str, str]:
    """What the comparison says while a statement has been executed, which is then undone."""
    with transaction.atomic(using=OWNER):
        with connections[OWNER].cursor() as cursor:
            cursor.execute(_named(statement))
        found = {one.subject: one.detail for one in catalogue.now(OWNER).differences()}
        transaction.set_rollback(True, using=OWNER)
    return found


def _named(statement: str) -> str:
    words = {
        "@app@": settings.CASINO_APP_ROLE,
        "@sequencer@": settings.CASINO_SEQUENCER_ROLE,
        "@database@": connections[OWNER].settings_dict["NAME"],
    }
    for word, name in words.items():
        statement = statement.replace(word, str(name))
    return statement


@contextmanager
def changed(statement: str, undo: str) -> Iterator[None]:
    """A statement executed and committed as superuser, and undone afterwards."""
    try:
        with connections[OWNER].cursor() as cursor:
            cursor.execute(_named(statement))
        yield
    finally:
        with connections[OWNER].cursor() as cursor:
            cursor.execute(_named(undo))


def recorded(kit: Kit) -> list[dict[str, object]]:
    """Data of the events that recorded the catalogue, the oldest first."""
    events = Event.objects.filter(house=kit.house, doc__kind="catalogue.changed").order_by("id")
    return [doc["data"] for doc in events.values_list("doc", flat=True)]


# --- What is declared -----------------------------------------------------------------------------------------------


def test_a_migrated_database_is_as_declared(live_db: None) -> None:
    if os.environ.get("CATALOGUE") == "write":
        catalogue.write_files(catalogue.now())
        for read in (catalogue.declared, reader.declared):
            read.cache_clear()
    assert catalogue.now().differences() == [], "`make catalogue` declares them again"
    assert len(catalogue.declared()) > 1_000


def test_every_version_of_the_server_writes_a_view_in_the_same_words(live_db: None) -> None:
    """PostgreSQL 15 names the table of every column. Later ones do not where a query reads one table alone."""
    views = [text for name, text in catalogue.now().objects.items() if name.startswith("view ")]
    assert views and all(re.match(r"enabled O: +SELECT \w+\.\w+,", text) for text in views)


def test_both_roles_and_the_owner_read_the_same_catalogue(live_db: None) -> None:
    digests = {catalogue.now(alias).digest for alias in ("default", "sequencer", OWNER)}
    assert len(digests) == 1


def test_a_file_is_written_as_it_is_read(live_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brought = f"{'0' * 64}  functions of PostgreSQL 1\n"
    (tmp_path / "rest.txt").write_text(brought)
    monkeypatch.setattr(catalogue, "FILE", tmp_path / "rest.txt")
    monkeypatch.setattr(reader, "FILE", tmp_path / "ledger.txt")
    catalogue.write_files(catalogue.now())
    written = {**reader.declared_in(tmp_path / "rest.txt"), **reader.declared_in(tmp_path / "ledger.txt")}
    assert written.pop("functions of PostgreSQL 1") == "0" * 64, "what is declared for another version stays"
    assert written == catalogue.now().digests
    assert all(name.split(" ", 1)[1] for name in written)
    assert set(reader.declared_in(tmp_path / "ledger.txt")) == set(reader.found())


def test_functions_of_a_version_of_which_none_are_declared_are_not_compared(
    live_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = catalogue.now()
    brought = next(name for name in found.objects if name.startswith("functions of PostgreSQL"))
    wanted = dict(catalogue.declared())
    monkeypatch.setattr(catalogue, "declared", lambda: wanted)
    wanted[brought] = "0" * 64
    assert [one.subject for one in found.differences()] == [brought]
    del wanted[brought]
    assert found.differences() == []


def test_every_function_sets_its_search_path_or_names_every_table_in_full(live_db: None) -> None:
    functions = sql.rows(
        "SELECT proname, prosrc, coalesce(array_to_string(proconfig, ' '), '') FROM pg_proc "
        "WHERE pronamespace = 'public'::regnamespace",
        [],
    )
    assert len(functions) > 70
    assert {name for name, _, config in functions if "search_path=" not in config} == HOT | INLINE
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)} | {"hands_log"}
    for name, body, _ in functions:
        if name in HOT | INLINE:
            words = body.replace("(", " ").split()
            assert [word for word in words if word in tables and f"'{word}'" not in body] == [], name


# --- Objects --------------------------------------------------------------------------------------------------------

NO_OP = "LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"


CHANGES = [
    (f"CREATE OR REPLACE FUNCTION houses_refuse_change() RETURNS trigger {NO_OP}",
     "function houses_refuse_change()", "differs"),
    ("ALTER FUNCTION audit_append OWNER TO @app@", "function audit_append(", "@app@"),
    ("ALTER FUNCTION audit_append SECURITY INVOKER", "function audit_append(", "differs"),
    ("ALTER FUNCTION audit_append SET row_security = off", "function audit_append(", "differs"),
    ("CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "function mine()", "no migration"),
    ("DROP FUNCTION audit_open_epoch", "function audit_open_epoch(", "missing"),
    ("CREATE OR REPLACE FUNCTION pg_catalog.sha256(bytea) RETURNS bytea LANGUAGE sql STRICT IMMUTABLE AS "
     "$$ SELECT '\\x00'::bytea $$", "functions of PostgreSQL", "differs"),
    ("CREATE FUNCTION pg_catalog.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "function pg_catalog.mine()",
     "no migration"),
    ("ALTER TABLE audit_event DISABLE TRIGGER audit_event_no_change",
     "trigger audit_event.audit_event_no_change", "disabled"),
    ("DROP TRIGGER audit_event_no_change ON audit_event; CREATE TRIGGER audit_event_no_change BEFORE UPDATE OR "
     "DELETE ON audit_event FOR EACH ROW WHEN (false) EXECUTE FUNCTION houses_refuse_change(); "
     "ALTER TABLE audit_event ENABLE ALWAYS TRIGGER audit_event_no_change",
     "trigger audit_event.audit_event_no_change", "WHEN (false)"),
    ("CREATE TRIGGER mine AFTER INSERT ON audit_event EXECUTE FUNCTION houses_refuse_change()",
     "trigger audit_event.mine", "no migration"),
    ("ALTER TABLE staff_terminal DISABLE TRIGGER ALL", "triggers of constraint staff_terminal.", "enabled D"),
    ("ALTER TABLE staff_staff DROP CONSTRAINT staff_staff_pkey CASCADE", "constraint staff_staff.staff_staff_pkey",
     "missing"),
    ("DROP INDEX audit_event_kind", "index audit_event.audit_event_kind", "missing"),
    ("CREATE INDEX mine ON audit_event (seq)", "index audit_event.mine", "no migration"),
    ("ALTER TABLE audit_event ENABLE ROW LEVEL SECURITY", "table audit_event", "row security t"),
    ("CREATE POLICY mine ON audit_event USING (false)", "policy audit_event.mine", "false"),
    ("ALTER TABLE audit_event OWNER TO @app@", "table audit_event", "@app@"),
    ("ALTER TABLE audit_event SET UNLOGGED", "table audit_event", "persistence u"),
    ("ALTER TABLE audit_log ALTER size SET DEFAULT 1", "column audit_log.size", "default 1"),
    ("ALTER TABLE audit_log ALTER size TYPE numeric", "column audit_log.size", "numeric"),
    ("ALTER TABLE audit_event ALTER doc DROP EXPRESSION", "column audit_event.doc", "differs"),
    ("CREATE TABLE mine (a int)", "table mine", "no migration"),
    ("CREATE OR REPLACE VIEW hands_log AS "
     "SELECT house_id, hand_id, seq, text, text::text AS stored FROM hands_handline",
     "view hands_log", "differs"),
    ("CREATE RULE mine AS ON INSERT TO audit_leaf DO INSTEAD NOTHING", "rule audit_leaf.mine", "no migration"),
    ("ALTER SEQUENCE audit_event_id_seq INCREMENT BY -1 MINVALUE -9", "sequence audit_event_id_seq", "by -1"),
    ("GRANT INSERT ON audit_event TO @app@", "rights on table audit_event", "@app@ INSERT"),
    ("GRANT SELECT ON staff_staff TO PUBLIC", "rights on table staff_staff", "PUBLIC SELECT"),
    ("GRANT SELECT ON hands_hand TO @app@ WITH GRANT OPTION", "rights on table hands_hand", "pass it on"),
    ("GRANT UPDATE (payload) ON audit_event TO @sequencer@", "rights on column audit_event.payload", "UPDATE"),
    ("GRANT EXECUTE ON FUNCTION audit_open_epoch TO @app@", "rights on function audit_open_epoch(", "EXECUTE"),
    ("GRANT CREATE ON SCHEMA public TO @app@", "rights on schema @schema@", "CREATE"),
    ("GRANT SET ON PARAMETER session_replication_role TO @app@", "rights on parameter session_replication_role",
     "SET"),
    ("ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO @app@", "rights on later objects", "@app@"),
    ("ALTER ROLE @app@ BYPASSRLS", "role @app@", "row security t"),
    ("ALTER ROLE @sequencer@ SUPERUSER", "role @sequencer@", "superuser t"),
    ("GRANT pg_read_all_data TO @app@", "role @app@", "pg_read_all_data"),
    ("ALTER ROLE @app@ SET session_replication_role = replica",
     "setting session_replication_role of @app@ in every database", "replica"),
    ("CREATE SCHEMA mine", "schema mine", "no migration"),
    ("CREATE TYPE mine AS ENUM ('a')", "type mine", "no migration"),
    ("CREATE CAST (text AS int) WITH INOUT AS IMPLICIT", "cast from text to integer", "by hand"),
    ("CREATE FUNCTION mine() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; "
     "CREATE EVENT TRIGGER mine ON ddl_command_end EXECUTE FUNCTION mine()", "event trigger mine", "no migration"),
    ("CREATE PUBLICATION mine FOR TABLE audit_event", "publication mine", "by hand"),
    ("CREATE FUNCTION mine() RETURNS language_handler LANGUAGE c AS '$libdir/plpgsql', 'plpgsql_call_handler'; "
     "CREATE LANGUAGE mine HANDLER mine", "language mine", "no migration"),
]  # fmt: skip


@pytest.mark.some_now(6)
@pytest.mark.parametrize(("statement", "subject", "detail"), CHANGES, ids=[change[0][:60] for change in CHANGES])
def test_what_no_migration_made_so_is_named(live_db: None, statement: str, subject: str, detail: str) -> None:
    found = differences(statement)
    assert any(name.startswith(subject) and detail in problem for name, problem in found.items()), found


@pytest.mark.parametrize(
    "statement", ["ALTER ROLE @app@ SET timezone = 'UTC'", "ALTER ROLE @app@ SET statement_timeout = '1min'"]
)
def test_settings_of_waiting_and_of_times_are_the_operators(live_db: None, statement: str) -> None:
    assert differences(statement) == {}


# --- Deceptions -----------------------------------------------------------------------------------------------------

CLEAN = """
CREATE SCHEMA evil;
CREATE TABLE evil.audit_event AS TABLE public.audit_event;
CREATE TABLE evil.ledger_account AS TABLE public.ledger_account WITH NO DATA;
CREATE TABLE evil.pg_trigger AS SELECT * FROM pg_catalog.pg_trigger;
GRANT USAGE ON SCHEMA evil TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA evil TO PUBLIC;
ALTER ROLE @app@ IN DATABASE @database@ SET search_path = evil, public, pg_catalog
"""


def end_sessions() -> None:
    """What a role's sessions begin with is what it is now."""
    connections["default"].close()
    kept_connections.close()


@pytest.mark.usefixtures("all_running")
def test_a_schema_with_clean_copies_in_front_hides_nothing(kit: Kit) -> None:
    """Copies are made, sessions find them first, and the true row is altered: both are named."""
    kit.table()
    kit.sequence()
    assert auditing.verify_house(kit.house).findings == []
    with changed(CLEAN, "DROP SCHEMA evil CASCADE; ALTER ROLE @app@ IN DATABASE @database@ RESET search_path"):
        end_sessions()
        try:
            [(seen,)] = sql.rows("SELECT to_regclass('audit_event')::text", [])
            assert seen == "audit_event" and sql.rows("SHOW search_path", [])[0][0].startswith("evil")
            assert sql.rows("SELECT 'audit_event'::regclass = 'evil.audit_event'::regclass", []) == [(True,)]
            newest = "(SELECT max(id) FROM public.audit_event WHERE house_id = %s)"
            swap = f"UPDATE public.audit_event SET payload = replace(payload, %s, %s) WHERE id = {newest}"
            with unguarded("public.audit_event") as cursor:
                cursor.execute(swap, ['"v":2', '"v":3', kit.house.id])
            found = auditing.verify_house(kit.house).findings
            broken = verification(kit.house)
            with unguarded("public.audit_event") as cursor:
                cursor.execute(swap, ['"v":3', '"v":2', kit.house.id])
        finally:
            end_sessions()
    places = {one.place for one in found if one.code == "catalogue_differs"}
    assert {one["check"] for one in broken["book_findings"]} == set(), "the book is read where it is, and is right"
    assert {"schema evil", "table evil.audit_event", "table evil.pg_trigger"} <= places
    assert any(place.startswith("setting search_path of @app@") for place in places)
    assert [one for one in found if one.code != "catalogue_differs"], "the altered row is read where it is"
    end_sessions()
    assert auditing.verify_house(kit.house).findings == []


@pytest.mark.some_now(3)
@pytest.mark.usefixtures("all_running")
@pytest.mark.parametrize(
    ("statement", "undo", "place"),
    [
        ("ALTER TABLE audit_leaf ENABLE ROW LEVEL SECURITY", "ALTER TABLE audit_leaf DISABLE ROW LEVEL SECURITY",
         "table audit_leaf"),
        ("GRANT UPDATE ON audit_event TO @app@", "REVOKE UPDATE ON audit_event FROM @app@",
         "rights on table audit_event"),
        ("CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION mine()", "function mine()"),
    ],
)  # fmt: skip
def test_verify_audit_names_what_was_changed(kit: Kit, statement: str, undo: str, place: str) -> None:
    kit.sequence()
    with changed(statement, undo):
        found = auditing.verify_house(kit.house).findings
        assert found[0].code == "catalogue_differs" and place in {one.place for one in found}
    assert auditing.verify_house(kit.house).findings == []


def test_a_temporary_table_comes_after_the_tables_of_the_house(kit: Kit) -> None:
    """The verifier's own sessions have none; what a session finds first decides."""
    with transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE audit_event (a int)")
        assert catalogue.read(cursor).differences() == []
        cursor.execute("SHOW search_path")
        assert "pg_catalog" not in cursor.fetchone()[0], "the path is the session's own again"
        transaction.set_rollback(True)


# --- Events ---------------------------------------------------------------------------------------------------------


def test_the_catalogue_is_recorded_once_and_again_where_it_changed(kit: Kit, caplog: pytest.LogCaptureFixture) -> None:
    assert recorded(kit) == []
    tasks.record_catalogue(str(kit.house.id))
    tasks.record_catalogue(str(kit.house.id))
    digest = catalogue.now().digest
    count = len(catalogue.declared())
    assert recorded(kit) == [{"digest": digest, "object_count": count, "difference_count": 0}]
    with changed("CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION mine()"):
        assert tasks.record_catalogue(str(kit.house.id))
        _, second = recorded(kit)
        assert second["before"] == digest != second["digest"]
        assert set(second["differences"]) == {"function mine()", "rights on function mine()"}
        assert "the database's catalogue: function mine() was made by no migration" in caplog.text
    tasks.record_catalogue(str(kit.house.id))
    assert recorded(kit)[-1] == recorded(kit)[0] | {"before": second["digest"]}
    assert auditing.verify_house(kit.house).findings == []


@pytest.mark.slow
def test_migrations_record_the_catalogue_as_the_owner(kit: Kit) -> None:
    call_command("migrate", database=OWNER, verbosity=0)
    [data] = recorded(kit)
    assert data["digest"] == catalogue.now().digest
    actor = Event.objects.filter(house=kit.house, doc__kind="catalogue.changed").values_list("doc", flat=True)[0]
    assert (actor["actor"], actor["request"]) == ("operator", "migrate")
    call_command("migrate", database=OWNER, verbosity=0)
    assert len(recorded(kit)) == 1


def test_migrations_go_on_past_a_house_that_may_write_nothing(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(house: object, *_: object) -> bool:
        raise LogRolledBack(f"{house} was rolled back")

    with monkeypatch.context() as patched:
        patched.setattr(catalogue, "record_change", refuse)
        call_command("migrate", database=OWNER, verbosity=0)
    assert recorded(kit) == [] and f"house {kit.house.code}: the catalogue is not recorded" in caplog.text
    assert catalogue.record_change(kit.house, catalogue.now(), Actor.system("test"))
    assert len(recorded(kit)) == 1


# --- Probes ---------------------------------------------------------------------------------------------------------


class Clock:
    """Stands for the clock of a process; a test sets it."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """The clock by which an answer is kept; nothing is kept before the test and after it."""
    found = Clock()
    monkeypatch.setattr(catalogue, "monotonic", found)
    catalogue.forget()
    yield found
    catalogue.forget()


@pytest.mark.usefixtures("all_running")
def test_readyz_says_so_while_a_function_is_another(kit: Kit, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    [(made,)] = sql.rows("SELECT pg_get_functiondef('audit_require_recorded'::regproc)", [])
    weaker = made.replace("BEGIN", "BEGIN RETURN NULL;", 1)
    assert weaker != made
    http = kit.http(None)
    assert http.get("/readyz").status_code == 200
    with changed(weaker, made):
        clock.seconds = 29.0
        assert http.get("/readyz").status_code == 200, "an answer is kept for 30 s"
        clock.seconds = 31.0
        refused = http.get("/readyz")
        assert refused.status_code == 503
        assert refused.json()["failed"] == [{"check": "catalogue", "code": "catalogue_differs"}]
        assert "audit_require_recorded" not in refused.text
        assert "function audit_require_recorded(): differs from what the migrations make" in caplog.text
    clock.seconds = 60.0
    assert http.get("/readyz").status_code == 503
    clock.seconds = 62.0
    assert http.get("/readyz").status_code == 200


def test_a_new_connection_is_compared_again(live_db: None, clock: Clock) -> None:
    assert catalogue.lately() == []
    with changed("CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION mine()"):
        assert catalogue.lately() == []
        connections["default"].close()
        assert "function mine()" in {one.subject for one in catalogue.lately()}


@pytest.mark.slow
def test_a_dump_that_is_restored_has_the_same_catalogue(live_db: None, tmp_path: Path) -> None:
    """PostgreSQL writes lists of words otherwise once it has read what it wrote; a house that was moved by a dump would
    stand still."""
    there = connections[OWNER].settings_dict
    server = ["--host", there["HOST"], "--port", str(there["PORT"] or 5432), "--username", there["USER"]]
    environ = os.environ | {"PGPASSWORD": there["PASSWORD"] or ""}
    restored, dump = f"{there['NAME']}_restored", tmp_path / "dump"

    def run(program: str, *arguments: str) -> None:
        command = [str(find_postgres().bin / program), *server, *arguments]
        subprocess.run(command, check=True, env=environ, timeout=120)

    run("pg_dump", "--format=custom", "--schema-only", f"--file={dump}", there["NAME"])
    run("createdb", restored)
    try:
        run("pg_restore", "--exit-on-error", f"--dbname={restored}", str(dump))
        connection = connections[OWNER].copy()
        connection.settings_dict = there | {"NAME": restored}
        with connection.cursor() as cursor:
            found = catalogue.read(cursor).differences()
        connection.close()
    finally:
        run("dropdb", "--force", restored)
    assert found == []
