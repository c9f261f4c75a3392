"""The triggers that keep what was written, and whether the database still has them all, switched on for everybody."""

from collections.abc import Iterable
from dataclasses import dataclass

#: Every trigger that the migrations make, ENABLE ALWAYS, by table; its name begins with the table's. A test compares
#: this with a freshly migrated database.
GUARDS: dict[str, tuple[str, ...]] = {
    "audit_chainhead": ("no_truncate",),
    "audit_checkpoint": ("no_change", "no_truncate"),
    "audit_epoch": ("no_change", "no_truncate"),
    "audit_event": ("no_change", "no_truncate"),
    "audit_leaf": ("no_change", "no_truncate"),
    "audit_log": ("no_delete", "no_truncate", "only_grows"),
    "audit_mark": ("no_delete", "no_truncate", "only_grows"),
    "audit_tile": ("no_change", "no_truncate"),
    "audit_told": ("no_change", "no_truncate"),
    "cage_drawer": ("no_truncate",),
    "cage_shift": ("no_truncate",),
    "chips_chipset": ("no_truncate",),
    "chips_denomination": ("no_change", "no_truncate"),
    "chips_imbalance": ("no_truncate",),
    "custody_softcount": ("no_truncate", "stays"),
    "custody_transfer": ("no_truncate", "stays"),
    "hands_cardentry": ("no_change", "no_truncate", "while_played"),
    "hands_cardexception": ("no_truncate", "stays"),
    "hands_clientseed": ("before", "no_change", "no_truncate"),
    "hands_correction": ("no_change", "no_truncate", "while_played"),
    "hands_deal": ("no_truncate", "stays"),
    "hands_hand": ("cards_stay", "inputs_stay", "no_truncate"),
    "hands_handline": ("in_order", "no_change", "no_truncate"),
    "house_house": ("no_truncate",),
    "house_outboxmessage": ("no_truncate",),
    "ledger_account": (
        "closes_empty", "closes_once", "end_sealed", "explained", "fixed", "held", "kept", "sealed", "starts_empty",
        "undeleted", "well_formed",
    ),
    "ledger_assertion": ("fixed", "kept", "sealed", "true"),
    "ledger_claim": ("fixed", "kept", "undeleted"),
    "ledger_entry": ("balanced", "fixed", "kept"),
    "ledger_hold": (
        "end_sealed", "fixed", "kept", "lets_go", "posted", "runs_out", "sealed", "starts_pending", "undeleted",
    ),
    "ledger_period": ("end_sealed", "fixed", "kept", "sealed", "starts_open", "undeleted"),
    "ledger_reserve": ("fixed", "held", "kept", "sealed", "undeleted"),
    "ledger_seal": ("by_trigger", "fixed", "kept"),
    "ledger_snapshot": ("fixed", "kept", "sealed"),
    "ledger_snapshot_line": ("fixed", "kept", "right", "sealed"),
    "ledger_transaction": ("fixed", "has_legs", "is_told", "kept", "stamped"),
    "players_person": ("no_change", "no_truncate"),
    "players_personkey": ("no_change", "no_truncate"),
    "players_player": ("no_truncate",),
    "staff_answeredrequest": ("no_truncate",),
    "staff_staff": ("no_truncate",),
    "staff_terminal": ("no_truncate",),
    "tables_seating": ("no_truncate",),
    "tables_seatkey": ("no_truncate", "stays"),
    "tables_sitting": ("no_truncate",),
    "tables_table": ("no_truncate",),
}  # fmt: skip

#: Table, name and state of every trigger that there is.
THERE = """
SELECT c.relname, t.tgname, t.tgenabled::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace
"""
_STATES = {
    "D": "it is disabled",
    "O": "it is enabled, but sleeps in replica mode; it must be ENABLE ALWAYS",
    "R": "it is enabled in replica mode only; it must be ENABLE ALWAYS",
}


@dataclass(frozen=True, slots=True)
class Off:
    """A guard that does not stand as the migrations have put it there."""

    table: str
    trigger: str
    problem: str

    @property
    def place(self) -> str:
        """Where it should be."""
        return f"table {self.table}, trigger {self.trigger}"


def off(there: Iterable[tuple[str, str, str]]) -> list[Off]:
    """Which guards are switched off or missing, by the rows of `THERE`."""
    states = {(table, trigger): state for table, trigger, state in there}
    wanted = ((table, f"{table}_{name}") for table, names in GUARDS.items() for name in names)
    found = ((table, trigger, states.get((table, trigger), "")) for table, trigger in wanted)
    return [Off(table, trigger, _STATES.get(state, "it is missing")) for table, trigger, state in found if state != "A"]
