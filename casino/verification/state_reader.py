# ruff: noqa: S608 - queries are made of the names of models and columns
"""The rows of a house as the verifier compares them with its events: every column that is proved, secrets as their
SHA-256, other rows by the keys that events name them by. One query a model, made of the models and what
`casino/audit/verifier` declares of them.
"""

from functools import cache
from typing import Any

from django.apps import apps
from django.db import models

from casino.audit.verifier.state import MODELS
from casino.audit.verifier.state_columns import Column, Model

_UTC = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
#: How events name a row of these models, by its id in the column that refers to it. A row of another house is none.
_NAMES = {
    "staff.Staff": "(SELECT login FROM staff_staff WHERE id = {} AND house_id = m.house_id)",
    "staff.Terminal": "(SELECT code FROM staff_terminal WHERE id = {} AND house_id = m.house_id)",
    "players.Player": "(SELECT ref FROM players_player WHERE id = {} AND house_id = m.house_id)",
    "chips.ChipSet": "(SELECT code FROM chips_chipset WHERE id = {} AND house_id = m.house_id)",
    "cage.Drawer": "(SELECT code FROM cage_drawer WHERE id = {} AND house_id = m.house_id)",
    "tables.Table": "(SELECT code FROM tables_table WHERE id = {} AND house_id = m.house_id)",
    "tables.TableSession": """(SELECT concat_ws('/', t.code, s.number)
        FROM tables_tablesession s JOIN tables_table t ON t.id = s.table_id
        WHERE s.id = {} AND s.house_id = m.house_id AND t.house_id = m.house_id)""",
    "tables.Seating": """(SELECT concat_ws('/', t.code, s.number, o.seat, (
            SELECT count(*) FROM tables_seating b
            WHERE b.session_id = o.session_id AND b.seat = o.seat AND b.id <= o.id))
        FROM tables_seating o JOIN tables_tablesession s ON s.id = o.session_id JOIN tables_table t ON t.id = s.table_id
        WHERE o.id = {} AND o.house_id = m.house_id AND t.house_id = m.house_id)""",
    "hands.Hand": "(SELECT name FROM hands_hand WHERE id = {} AND house_id = m.house_id)",
    "hands.Deal": "(SELECT name FROM hands_deal WHERE id = {} AND house_id = m.house_id)",
    "audit.Event": """(SELECT concat(c.name, '#', e.seq) FROM audit_event e JOIN audit_chainhead c ON c.id = e.chain_id
        WHERE e.id = {} AND e.house_id = m.house_id)""",
    "transfers.Box": "(SELECT serial::text FROM transfers_box WHERE id = {} AND house_id = m.house_id)",
    "transfers.ChipMove": "(SELECT serial::text FROM transfers_chipmove WHERE id = {} AND house_id = m.house_id)",
    "transfers.TroncPool": "(SELECT serial::text FROM transfers_troncpool WHERE id = {} AND house_id = m.house_id)",
    "cage.VaultCount": "(SELECT number::text FROM cage_vaultcount WHERE id = {} AND house_id = m.house_id)",
    "approvals.Approval": "(SELECT number::text FROM approvals_approval WHERE id = {} AND house_id = m.house_id)",
    "reports.ReportRun": "(SELECT number::text FROM reports_reportrun WHERE id = {} AND house_id = m.house_id)",
    "watching.UnknownPerson": """(SELECT number::text FROM watching_unknownperson
        WHERE id = {} AND house_id = m.house_id)""",
    "evidence.Complaint": "(SELECT number::text FROM evidence_complaint WHERE id = {} AND house_id = m.house_id)",
    "days.Package": "(SELECT day FROM days_package WHERE id = {} AND house_id = m.house_id)",
    "safeguards.Exclusion": "(SELECT number::text FROM safeguards_exclusion WHERE id = {} AND house_id = m.house_id)",
    "safeguards.Remittance": "(SELECT number::text FROM safeguards_remittance WHERE id = {} AND house_id = m.house_id)",
    "ledger.Account": "(SELECT concat(code, ' ', commodity) FROM ledger_account WHERE id = {} AND book = m.book)",
}
_HAND = _NAMES["hands.Hand"].format("m.hand_id")
_COUNTED_BY = _NAMES["staff.Staff"].format("m.counted_by_id")
_BOX = _NAMES["transfers.Box"].format("m.box_id")
_EXCLUSION = _NAMES["safeguards.Exclusion"].format("m.exclusion_id")
_MOVE = _NAMES["transfers.ChipMove"].format("m.move_id")
_POOL = _NAMES["transfers.TroncPool"].format("m.pool_id")
#: The hand that a message is about; other tasks have numbers of their own. Looked up by its key: every hand has left a
#: message, and comparing each with the ids of all as text took as long as the square of their number.
_SETTLED = """CASE WHEN left(m.task, 6) = 'hands.' AND m.subject ~ '^[0-9]{1,18}$' THEN (
    SELECT name FROM hands_hand WHERE id = m.subject::bigint AND house_id = m.house_id) END"""
#: A row's key, where it is not the name by which others refer to it.
_KEYS = {
    "houses.House": "m.code",
    "houses.DataKey": "m.number::text",
    "houses.Limits": "m.number::text",
    "houses.Identity": "m.number::text",
    "houses.Rehearsal": "m.number::text",
    "houses.RehearsalRun": "m.number::text",
    "houses.GoLiveSignature": "m.number::text",
    "approvals.Approval": "m.number::text",
    "approvals.Assent": f"concat({_NAMES['approvals.Approval'].format('m.approval_id')}, '/', m.role)",
    "houses.OutboxMessage": f"concat(m.task, '/', coalesce({_SETTLED}, m.subject))",
    "staff.TerminalToken": "encode(sha256(convert_to(m.digest, 'UTF8')), 'hex')",
    "staff.Passkey": "encode(sha256(convert_to(m.credential_id, 'UTF8')), 'hex')",
    "staff.RotaEntry": "m.number::text",
    "players.Person": f"concat({_NAMES['players.Player'].format('m.player_id')}, '/', m.version)",
    "players.PersonKey": _NAMES["players.Player"].format("m.player_id"),
    "chips.Denomination": f"concat({_NAMES['chips.ChipSet'].format('m.chip_set_id')}, '/', m.value)",
    "chips.Imbalance": """concat(m.kind, '/', (SELECT count(*) FROM chips_imbalance b
        WHERE b.house_id = m.house_id AND b.kind = m.kind AND b.id <= m.id))""",
    "chips.Template": "concat(m.kind, '/', m.place, '/', m.number)",
    "cage.Shift": f"concat({_NAMES['cage.Drawer'].format('m.drawer_id')}, '/', m.number)",
    "cage.Handover": f"concat({_NAMES['cage.Drawer'].format('m.drawer_id')}, '/', m.number)",
    "tables.TableTerms": f"concat({_NAMES['tables.Table'].format('m.table_id')}, '/', m.number)",
    "tables.DealerTurn": f"concat({_NAMES['tables.Table'].format('m.table_id')}, '/', m.number)",
    "tables.WaitingEntry": "m.number::text",
    "cage.VaultCount": "m.number::text",
    "cage.BankBag": "m.number::text",
    "cage.HeldPayout": "m.number::text",
    "cage.AnnouncedCashOut": "m.number::text",
    "cage.NonCashBuyIn": "m.number::text",
    "cage.FoundChips": "m.number::text",
    "cage.VarianceOffset": "m.number::text",
    "cage.VaultCountEntry": f"""concat({_NAMES["cage.VaultCount"].format("m.vault_count_id")}, '/', m.round, '/',
        {_NAMES["staff.Staff"].format("m.counted_by_id")})""",
    "tables.SeatDevice": f"concat({_NAMES['tables.Seating'].format('m.seating_id')}, '/', m.mark)",
    "tables.SeatKey": "encode(sha256(convert_to(m.digest, 'UTF8')), 'hex')",
    "transfers.Serial": "m.series",
    "transfers.Transfer": "concat(m.kind, ' ', m.serial)",
    "transfers.Box": "m.serial::text",
    "transfers.BoxCount": f"concat({_BOX}, '/', m.round, '/', {_COUNTED_BY})",
    "transfers.TrayCount": "m.serial::text",
    "transfers.ChipMove": "m.serial::text",
    "transfers.ChipMoveCount": f"concat({_MOVE}, '/', m.round, '/', {_COUNTED_BY})",
    "transfers.LateClaim": "m.number::text",
    "transfers.TroncPool": "m.serial::text",
    "transfers.TroncShare": f"concat({_POOL}, '/', {_NAMES['staff.Staff'].format('m.staff_id')})",
    "hands.SeedCommitment": f"concat({_NAMES['hands.Deal'].format('m.deal_id')}, '/', m.seat)",
    "hands.ClientSeed": f"concat({_NAMES['hands.Deal'].format('m.deal_id')}, '/', m.seat)",
    "hands.CardEntry": f"""concat({_HAND}, '/', (SELECT count(*) FROM hands_cardentry b
        WHERE b.hand_id = m.hand_id AND b.id <= m.id))""",
    "hands.Correction": f"""concat({_HAND}, '/', (SELECT count(*) FROM hands_correction b
        WHERE b.hand_id = m.hand_id AND b.id <= m.id))""",
    "hands.LaterRuling": f"concat({_HAND}, '/', m.number)",
    "hands.CardException": f"concat({_NAMES['tables.Table'].format('m.table_id')}, '/', m.number)",
    "safeguards.Exclusion": "m.number::text",
    "safeguards.Minor": "m.number::text",
    "safeguards.ExclusionMark": f"concat({_EXCLUSION}, '/', encode(sha256(m.salted), 'hex'))",
    "safeguards.ExclusionMatch": f"concat({_EXCLUSION}, '/', {_NAMES['players.Player'].format('m.player_id')})",
    "safeguards.Admission": f"concat({_NAMES['players.Player'].format('m.player_id')}, '/', m.day)",
    "safeguards.PlayerLimit": "m.number::text",
    "safeguards.Interaction": "m.number::text",
    "safeguards.RealityCheck": "m.number::text",
    "houses.HouseRules": "m.number::text",
    "houses.DutyRates": "m.number::text",
    "watching.UnknownPerson": "m.number::text",
    "watching.LogLine": "m.number::text",
    "watching.Filing": "m.number::text",
    "watching.EuroRate": "m.number::text",
    "audit.Epoch": "m.epoch::text",
    "audit.KeyRotation": "concat(m.epoch, '/', m.size)",
    "audit.Archive": "m.number::text",
    "days.Package": "m.day",
    "reports.Printout": "m.number::text",
    "days.PackageContent": _NAMES["days.Package"].format("m.package_id"),
    "reports.ReportRun": "m.number::text",
    "reports.ReportSchedule": "concat(m.name, '/', m.number)",
    "reports.Delivery": "m.number::text",
    "reports.ReportFile": f"concat({_NAMES['reports.ReportRun'].format('m.run_id')}, '/', m.name)",
    "reports.ReportPart": """concat((SELECT concat(r.number, '/', f.name) FROM reports_reportfile f
        JOIN reports_reportrun r ON r.id = f.run_id WHERE f.id = m.file_id), '/', m.number)""",
    "live.Webhook": "m.number::text",
    "evidence.Complaint": "m.number::text",
    "evidence.ComplaintText": f"concat({_NAMES['evidence.Complaint'].format('m.complaint_id')}, '/', m.step)",
    "evidence.LegalHold": "m.number::text",
    "evidence.SealedEntry": "m.number::text",
    "evidence.RetentionRun": "m.number::text",
    "ledger.Account": "concat(m.code, ' ', m.commodity)",
    "ledger.Hold": "m.key",
    "ledger.Period": "m.name",
    "ledger.Snapshot": "m.name",
    "ledger.Assertion": f"""concat({_NAMES["ledger.Account"].format("m.account_id")}, ' ', (
        SELECT count(*) FROM ledger_assertion b WHERE b.account_id = m.account_id AND b.id <= m.id))""",
}
#: Columns that are read otherwise than their type says.
_VALUES = {
    ("houses.OutboxMessage", "subject"): f"coalesce({_SETTLED}, m.subject)",
}
#: Where a model has no column of its house.
_WHERE = {"houses.House": "m.id"}

#: Of models that grow with every hand, which rows are new.
_OF_HANDS = {"hands.Hand": "m.id = ANY(%(hands)s)", "hands.CardEntry": "m.hand_id = ANY(%(hands)s)"}


@cache
def queries() -> tuple[str, ...]:
    """One query for each model that is compared, with `house` and `hands` as its parameters; each gives lines of JSON,
    with key, model and row, the oldest first."""
    return tuple(_query(model) for model in MODELS.values() if model.is_compared)


def changes(bound: int) -> tuple[str, ...]:
    """The same of the rows that were written by transactions of PostgreSQL from this id on: a row's `xmin` is the last
    one that wrote it. Of what comes with each hand, the rows of the hands that are read."""
    # Ids of 32 bits: the first three are none of transactions.
    written = f"age(m.xmin) <= age('{max(bound % (1 << 32), 3)}'::xid)"
    return tuple(_query(model, _OF_HANDS.get(model.name, written)) for model in MODELS.values() if model.is_compared)


@cache
def counting() -> dict[str, str]:
    """By model a query that counts its rows, with the house's id as its parameter."""
    return {
        model.name: f"SELECT count(*) FROM {apps.get_model(model.name)._meta.db_table} m WHERE {_house(model)} = %s"
        for model in MODELS.values()
        if model.is_compared
    }


def _house(model: Model) -> str:
    """The column of the house that a row is of."""
    return _WHERE.get(model.name) or ("m.book" if "book" in model.columns else "m.house_id")


def _query(model: Model, which: str = "true") -> str:
    found = apps.get_model(model.name)
    columns = [(name, _value(model.name, found, name, of)) for name, of in model.columns.items() if of.compared]
    key = _KEYS.get(model.name) or _NAMES[model.name].format("m.id")
    row = ", ".join(f"'{name}', {value}" for name, value in columns)
    ordered = found._meta.pk.column if found._meta.pk is not None else "id"
    return (
        f"SELECT json_build_object('key', {key}, 'model', '{model.name}', 'row', json_build_object({row})) "
        f"FROM {found._meta.db_table} m WHERE {_house(model)} = %(house)s AND {which} ORDER BY m.{ordered}"
    )


def _value(model: str, found: type[models.Model], name: str, declared: Column) -> str:
    """The SQL expression of a column."""
    field: Any = found._meta.get_field(name)
    column = f"m.{field.column}"
    if (model, name) in _VALUES:
        return _VALUES[model, name]
    if declared.hashed:
        content = column if isinstance(field, models.BinaryField) else f"convert_to({column}, 'UTF8')"
        return f"encode(sha256({content}), 'hex')"
    if field.is_relation:
        return _name_of(field, column)
    return _UTC.format(column) if isinstance(field, models.DateTimeField) else column


def _name_of(field: Any, column: str) -> str:
    """The name of the row that a column refers to; of one that has none, what it is by number."""
    target = field.related_model._meta.label
    name = _NAMES[target].format(column)
    return f"CASE WHEN {column} IS NOT NULL THEN coalesce({name}, concat('no ', {column})) END"
