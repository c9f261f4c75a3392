"""The tamper corpus: what is done as a database superuser, and the first place that the verifier must name."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from casino.audit import verifier
from casino.audit.signing import LocalSigningKey, Signer, origin
from casino.core import canonical
from tests.casino.kit import Kit
from tests.proof.superuser import (
    Forger,
    change,
    evening,
    evening_of_deals,
    evening_of_entries,
    guards_off,
    outside_file,
)

#: The key that signs in the tests is on the forger's side in the worst case; otherwise the forger makes one.
FOREIGN = b"\x07" * 32


@dataclass(frozen=True)
class Attack:
    """One attack: what it does, the code and the place (a pattern) of the first finding on the live house, and on an
    export with held checkpoints where that is another; None where an export does not carry what was altered. `before`
    is what the house did until then."""

    name: str
    do: Callable[[Kit], None]
    code: str
    place: str
    export: tuple[str, str] | None = ("", "")
    before: Callable[[Kit], None] = evening

    @property
    def exported(self) -> tuple[str, str] | None:
        """Code and place on an export."""
        return (self.code, self.place) if self.export == ("", "") else self.export


ATTACKS: list[Attack] = []


def attack(
    code: str, place: str, export: tuple[str, str] | None = ("", ""), before: Callable[[Kit], None] = evening
) -> Callable[[Callable[[Kit], None]], Callable[[Kit], None]]:
    """Add an attack to the corpus; its docstring is its name."""

    def add(function: Callable[[Kit], None]) -> Callable[[Kit], None]:
        ATTACKS.append(Attack(str(function.__doc__), function, code, place, export, before))
        return function

    return add


def _stolen() -> Signer:
    return Signer.from_settings()


_EVENT = "FROM audit_chainhead c WHERE c.id = chain_id AND c.house_id = %s AND c.name = %s AND audit_event.seq = %s"


# --- Events ----------------------------------------------------------------------------------------------------------


@attack("columns_differ", "table/T1#7", ("link_broken", "table/T1#7"))
def edited(kit: Kit) -> None:
    """edit of a payload"""
    change(f"UPDATE audit_event SET payload = replace(payload, '\"p1 po 100\"', '\"p1 po 200\"') {_EVENT}",
           kit.house.id, "table/T1", 7)  # fmt: skip


@attack("columns_differ", "table/T1#7", ("link_broken", "table/T1#7"))
def edited_with_its_hash(kit: Kit) -> None:
    """edit of a payload and its own hash"""
    edited(kit)
    change("UPDATE audit_event SET leaf_hash = encode(sha256('\\x00'::bytea || convert_to(payload, 'UTF8')), 'hex') "
           f"{_EVENT}", kit.house.id, "table/T1", 7)  # fmt: skip


@attack("not_json", r"event \d+")
def of_another_house(kit: Kit) -> None:
    """an event given to another house"""
    change(f"UPDATE audit_event SET house_id = gen_random_uuid() {_EVENT}", kit.house.id, "table/T1", 7)


def _rechained(kit: Kit, signer: Signer | None) -> None:
    forger = Forger(kit)
    doc = forger.lines[forger.find("hand.settled")].doc
    doc["actor"] = "somebody-else"
    forger.forge(signer)


@attack("leaves_differ", r"epoch 1, leaves (\d+) to (\d+) ")
def rechained(kit: Kit) -> None:
    """edit, all later events, heads and leaves re-chained"""
    _rechained(kit, None)


@attack("note_not_signed", "the database, note 1", ("note_not_signed", "the export, note 1"))
def rechained_and_signed_with_another_key(kit: Kit) -> None:
    """edit with re-chaining, the database's checkpoints signed with the forger's key"""
    _rechained(kit, Signer(LocalSigningKey(FOREIGN)))


@attack("split_view", r"epoch 1, \d+ leaves")
def rechained_and_signed_with_the_key(kit: Kit) -> None:
    """edit with re-chaining, the database's checkpoints signed with the stolen key"""
    _rechained(kit, _stolen())


@attack("event_missing", "table/T1#3")
def deleted(kit: Kit) -> None:
    """deletion of an event"""
    with guards_off() as cursor:
        where = "e.seq = 3 AND c.name = 'table/T1' AND c.house_id = %s AND c.id = e.chain_id"
        cursor.execute("SELECT e.id FROM audit_event e, audit_chainhead c WHERE " + where, [kit.house.id])
        [event] = cursor.fetchone()
        cursor.execute("SELECT leaf_index FROM audit_leaf WHERE event_id = %s", [event])
        [index] = cursor.fetchone()
        cursor.execute("DELETE FROM audit_leaf WHERE event_id = %s", [event])
        cursor.execute("DELETE FROM audit_posting WHERE event_id = %s", [event])
        cursor.execute("DELETE FROM audit_event WHERE id = %s", [event])
        for table in ("audit_leaf",):
            cursor.execute(f"UPDATE {table} SET leaf_index = -leaf_index WHERE house_id = %s AND leaf_index > %s",
                           [kit.house.id, index])  # fmt: skip
            cursor.execute(f"UPDATE {table} SET leaf_index = -leaf_index - 1 WHERE house_id = %s AND leaf_index < 0",
                           [kit.house.id])  # fmt: skip


def _without(kit: Kit, kind: str, signer: Signer | None = None) -> None:
    forger = Forger(kit)
    del forger.lines[forger.find(kind)]
    forger.forge(signer)


@attack("leaves_differ", r"epoch 1, leaves (\d+) to (\d+) ")
def deleted_and_renumbered(kit: Kit) -> None:
    """deletion of an event, later ones renumbered and re-chained"""
    _without(kit, "player.registered")


@attack("transaction_unrecorded", r"transaction \d+")
def deleted_tail(kit: Kit) -> None:
    """deletion of the newest event, not in the log yet, its chain's head set back"""
    forger = Forger(kit)
    assert forger.lines.pop().doc["kind"] == "cage.buy_in"
    forger.forge()


@attack("log_cut_off", r"epoch 1, leaf \d+")
def truncated(kit: Kit) -> None:
    """tail cut off: events, heads, marks, leaves and checkpoints"""
    forger = Forger(kit)
    last = max(at for at, line in enumerate(forger.lines) if line.logged)
    del forger.lines[last:]
    forger.forge()


@attack("leaves_differ", r"epoch 1, leaves (\d+) to (\d+) ")
def forged_tail(kit: Kit) -> None:
    """tail replaced by other events"""
    forger = Forger(kit)
    logged = [at for at, line in enumerate(forger.lines) if line.logged]
    for at in logged[-2:]:
        forger.lines[at].doc["request"] = "another"
    forger.forge()


@attack("event_missing", "table/T1#3")
def swapped(kit: Kit) -> None:
    """two leaves swapped"""
    with guards_off() as cursor:
        cursor.execute(
            "SELECT l.leaf_index, e.id FROM audit_event e JOIN audit_chainhead c ON c.id = e.chain_id "
            "JOIN audit_leaf l ON l.event_id = e.id "
            "WHERE c.name = 'table/T1' AND e.seq IN (3, 4) AND c.house_id = %s ORDER BY e.seq",
            [kit.house.id],
        )
        (first, one), (second, other) = cursor.fetchall()
        for event, index in ((one, -1), (other, first), (one, second)):
            cursor.execute("UPDATE audit_leaf SET leaf_index = %s WHERE event_id = %s", [index, event])


@attack("leaves_differ", r"epoch 1, leaves (\d+) to (\d+) ")
def swapped_and_rechained(kit: Kit) -> None:
    """two events of a chain swapped and re-chained"""
    forger = Forger(kit)
    at = [at for at, line in enumerate(forger.lines) if line.chain == "table/T1"][2:4]
    forger.lines[at[0]], forger.lines[at[1]] = forger.lines[at[1]], forger.lines[at[0]]
    forger.forge()


@attack("leaves_differ", r"epoch 1, leaves (\d+) to (\d+) ")
def inserted(kit: Kit) -> None:
    """an event inserted in the middle and re-chained"""
    forger = Forger(kit)
    at = forger.find("player.registered")
    line = forger.lines[at]
    forger.lines.insert(at, type(line)(line.chain, {**line.doc, "data": {"player": "ghost"}}, True))
    forger.forge()


@attack("leaves_differ", r"epoch 1, leaves (\d+) to (\d+) ")
def chain_removed(kit: Kit) -> None:
    """a whole chain removed"""
    forger = Forger(kit)
    forger.lines = [line for line in forger.lines if line.chain != "drawer/C1"]
    forger.forge()


@attack("kind_in_wrong_chain", r"table/T1#\d+")
def moved(kit: Kit) -> None:
    """an event moved to a chain of another kind and re-chained"""
    forger = Forger(kit)
    forger.lines[forger.find("cage.buy_in")].chain = "table/T1"
    forger.forge()


@attack("not_canonical", "table/T1#2")
def duplicate_key(kit: Kit) -> None:
    """a key written twice in a payload"""
    change("UPDATE audit_event SET payload = regexp_replace(payload, '^\\{', '{\"actor\":\"nobody\",') "
           f"{_EVENT}", kit.house.id, "table/T1", 2)  # fmt: skip


# --- Checkpoints, leaves, tiles, heads ------------------------------------------------------------


def _first_note(kit: Kit) -> verifier.Note:
    return verifier.parse_note(verifier.split_notes(outside_file(kit).read_text())[0])


def _replace_first(kit: Kit, signer: Signer, root: bytes, size: int) -> None:
    point = verifier.Checkpoint(origin(kit.house, 1), size, root, _first_note(kit).checkpoint.seconds)
    note = signer.note(kit.house, point)
    change("UPDATE audit_checkpoint SET root = %s, size = %s, note = %s WHERE id = "
           "(SELECT min(id) FROM audit_checkpoint WHERE house_id = %s)", root, size, note, kit.house.id)  # fmt: skip


@attack("split_view", r"epoch 1, \d+ leaves")
def checkpoint_of_another_root(kit: Kit) -> None:
    """a checkpoint replaced: another root, the stolen key"""
    _replace_first(kit, _stolen(), b"\x01" * 32, _first_note(kit).checkpoint.size)


@attack("note_not_signed", "the database, note 1", ("note_not_signed", "the export, note 1"))
def checkpoint_of_another_key(kit: Kit) -> None:
    """a checkpoint replaced: signed with another key"""
    point = _first_note(kit).checkpoint
    _replace_first(kit, Signer(LocalSigningKey(FOREIGN)), point.root, point.size)


@attack("checkpoint_false", "the database, note 1", ("checkpoint_false", "the export, note 1"))
def checkpoint_of_another_size(kit: Kit) -> None:
    """a checkpoint replaced: another size, the stolen key"""
    point = _first_note(kit).checkpoint
    _replace_first(kit, _stolen(), point.root, point.size - 1)


@attack("checkpoint_missing", r"checkpoint of epoch 1 over \d+ leaves")
def checkpoint_removed(kit: Kit) -> None:
    """a checkpoint removed from the database"""
    change("DELETE FROM audit_checkpoint WHERE id = (SELECT min(id) FROM audit_checkpoint WHERE house_id = %s)",
           kit.house.id)  # fmt: skip


@attack("checkpoint_row_differs", r"the database, checkpoint of epoch 1 over \d+ leaves", None)
def checkpoint_row(kit: Kit) -> None:
    """a checkpoint's columns altered, its note left"""
    change("UPDATE audit_checkpoint SET root = decode(repeat('ab', 32), 'hex') WHERE house_id = %s", kit.house.id)


@attack("note_unreadable", r".*\.checkpoints, note 4")
def file_cut(kit: Kit) -> None:
    """the file of checkpoints outside cut in the middle of a note"""
    path = outside_file(kit)
    path.write_bytes(path.read_bytes()[:-40])


@attack("outside_checkpoint_missing", r".*\.checkpoints, checkpoint of epoch 1 over \d+ leaves", None)
def file_without_a_note(kit: Kit) -> None:
    """a note taken out of the file of checkpoints outside"""
    path = outside_file(kit)
    notes = verifier.split_notes(path.read_text())
    path.write_text(verifier.join_notes([*notes[:1], *notes[2:]]))


@attack("columns_differ", r"house/.*#1", None)
def leaf(kit: Kit) -> None:
    """a leaf's hash altered"""
    change("UPDATE audit_leaf SET leaf_hash = decode(repeat('ab', 32), 'hex') WHERE house_id = %s AND leaf_index = 0",
           kit.house.id)  # fmt: skip


@attack("event_out_of_order", "table/T1#0")
def beside_its_chain(kit: Kit) -> None:
    """an event inserted under a number that its chain does not reach"""
    change("INSERT INTO audit_event (house_id, chain_id, seq, xid, payload, leaf_hash) "
           "SELECT house_id, chain_id, 0, xid, text, "
           "encode(sha256('\\x00'::bytea || convert_to(text, 'UTF8')), 'hex') FROM ("
           "SELECT e.*, replace(e.payload, '\"seq\":3,', '\"seq\":0,') AS text FROM audit_event e "
           "JOIN audit_chainhead c ON c.id = e.chain_id WHERE c.house_id = %s AND c.name = 'table/T1' AND e.seq = 3) f",
           kit.house.id)  # fmt: skip


@attack("tile_differs", "epoch 1, tile 0 of level 1", None)
def tile(kit: Kit) -> None:
    """a tile added"""
    change("INSERT INTO audit_tile (house_id, epoch, level, tile_index, hash) "
           "VALUES (%s, 1, 1, 0, decode(repeat('ab', 32), 'hex'))", kit.house.id)  # fmt: skip


@attack("key_differs", "log of epoch 1", ("key_differs", "epoch 1"))
def key(kit: Kit) -> None:
    """the log's key replaced by another"""
    change(
        "UPDATE audit_log SET vkey = %s WHERE house_id = %s",
        Signer(LocalSigningKey(FOREIGN)).key(kit.house).text,
        kit.house.id,
    )


@attack("head_differs", r"table/T1#\d+", None)
def head(kit: Kit) -> None:
    """a chain's head altered"""
    change("UPDATE audit_chainhead SET hash = repeat('a', 64) WHERE house_id = %s AND name = 'table/T1'", kit.house.id)


@attack("mark_differs", "mark of table/T1", None)
def mark(kit: Kit) -> None:
    """a chain's mark altered"""
    change("UPDATE audit_mark SET seq = audit_mark.seq + 1 FROM audit_chainhead c "
           "WHERE c.id = chain_id AND c.house_id = %s AND c.name = 'table/T1'", kit.house.id)  # fmt: skip


# --- The ledger ------------------------------------------------------------------------------------------------------

_OF = "(SELECT min(id) FROM ledger_transaction WHERE book = %s AND kind = 'hand.stakes')"


@attack("transaction_differs", r"transaction \d+")
def entry(kit: Kit) -> None:
    """an entry's amount altered"""
    change(f"UPDATE ledger_entry SET amount = amount * 2 WHERE transaction_id = {_OF}", kit.house.id)


@attack("transaction_differs", r"transaction \d+")
def entries_and_balances(kit: Kit) -> None:
    """entries, all later balances and the accounts altered so that the books balance"""
    with guards_off() as cursor:
        cursor.execute(f"SELECT account_id, version, amount FROM ledger_entry WHERE transaction_id = {_OF}",
                       [kit.house.id])  # fmt: skip
        for account, version, amount in cursor.fetchall():
            cursor.execute("UPDATE ledger_entry SET amount = amount * 2 WHERE account_id = %s AND version = %s",
                           [account, version])  # fmt: skip
            moved = "%s * (SELECT normal_side FROM ledger_account WHERE id = %s)"
            cursor.execute(f"UPDATE ledger_entry SET balance_after = balance_after + {moved} "
                           "WHERE account_id = %s AND version >= %s", [amount, account, account, version])  # fmt: skip
            cursor.execute(f"UPDATE ledger_account SET balance = balance + {moved} WHERE id = %s",
                           [amount, account, account])  # fmt: skip


@attack("balance_differs", "account 1010 HUF")
def balance(kit: Kit) -> None:
    """an account's balance altered"""
    change("UPDATE ledger_account SET balance = balance + 1 WHERE book = %s AND code = '1010'", kit.house.id)


@attack("transaction_differs", r"transaction \d+")
def metadata(kit: Kit) -> None:
    """a transaction's metadata altered"""
    change(f'UPDATE ledger_transaction SET metadata = \'{{"hand": "T9"}}\' WHERE id = {_OF}', kit.house.id)


@attack("transaction_differs", r"transaction \d+")
def kind(kit: Kit) -> None:
    """a transaction's kind altered"""
    change(f"UPDATE ledger_transaction SET kind = 'gift' WHERE id = {_OF}", kit.house.id)


@attack("transaction_differs", r"transaction \d+")
def moment(kit: Kit) -> None:
    """a transaction's moment altered"""
    change(f"UPDATE ledger_transaction SET posted_at = posted_at + '1 us' WHERE id = {_OF}", kit.house.id)


@attack("transaction_missing", r"transaction \d+")
def transaction_removed(kit: Kit) -> None:
    """a transaction removed with its entries"""
    change(f"DELETE FROM ledger_entry WHERE transaction_id = {_OF}", kit.house.id)
    change(f"DELETE FROM ledger_transaction WHERE id = {_OF}", kit.house.id)


@attack("transaction_unrecorded", r"transaction \d+")
def transaction_added(kit: Kit) -> None:
    """a transaction added that no event records, its books in order"""
    with guards_off() as cursor:
        cursor.execute(
            "INSERT INTO ledger_transaction (book, idempotency_key, kind, posted_at, metadata) "
            "VALUES (%s, 'ghost', 'gift', clock_timestamp(), '{}') RETURNING id",
            [kit.house.id],
        )
        [number] = cursor.fetchone()
        for code, amount in (("1010", 500), ("3010", -500)):
            cursor.execute(
                "UPDATE ledger_account SET version = version + 1, balance = balance + %s * normal_side "
                "WHERE book = %s AND code = %s RETURNING id, version, balance",
                [amount, kit.house.id, code],
            )
            account, version, after = cursor.fetchone()
            cursor.execute(
                "INSERT INTO ledger_entry (account_id, version, transaction_id, amount, balance_after) "
                "VALUES (%s, %s, %s, %s, %s)",
                [account, version, number, amount, after],
            )


# --- Hands -----------------------------------------------------------------------------------------------------------

_HAND = "house_id = %s AND name = 'T1-000001'"


@attack("hand_row_differs", "hand T1-000001")
def hand_result(kit: Kit) -> None:
    """a hand's result altered"""
    change(f"UPDATE hands_hand SET result = jsonb_set(result, '{{tax}}', '21') WHERE {_HAND}", kit.house.id)


@attack("hand_row_differs", "hand T1-000001")
def hand_stacks(kit: Kit) -> None:
    """a hand's stacks altered"""
    change(f"UPDATE hands_hand SET stacks = '[5000, 6000]' WHERE {_HAND}", kit.house.id)


@attack("hand_row_differs", "hand T1-000001")
def hand_state(kit: Kit) -> None:
    """a hand's state altered"""
    change(f"UPDATE hands_hand SET state = 'voided', settlement = NULL WHERE {_HAND}", kit.house.id)


_LINE = f"hand_id = (SELECT id FROM hands_hand WHERE {_HAND})"


@attack("hand_row_differs", "hand T1-000001, line 9")
def line(kit: Kit) -> None:
    """a line of a hand's log altered"""
    change(f"UPDATE hands_handline SET text = 'p1 rb 300' WHERE {_LINE} AND seq = 9", kit.house.id)


@attack("hand_row_differs", "hand T1-000001, line 14")
def line_removed(kit: Kit) -> None:
    """a line of a hand's log removed"""
    change(f"DELETE FROM hands_handline WHERE {_LINE} AND seq = 14", kit.house.id)


@attack("hand_row_differs", "hand T1-000001, line 15")
def line_added(kit: Kit) -> None:
    """a line added to a hand's log"""
    change("INSERT INTO hands_handline (house_id, hand_id, seq, text, at) "
           "SELECT house_id, id, 15, 'p1 k', clock_timestamp() "
           f"FROM hands_hand WHERE {_HAND}", kit.house.id)  # fmt: skip


@attack("hand_row_differs", "hand T1-000003, line 1", None)
def line_of_a_hand_in_play(kit: Kit) -> None:
    """a line of a hand in play altered"""
    change("UPDATE hands_handline SET text = 'p1 po 200' WHERE hand_id = (SELECT id FROM hands_hand WHERE "
           "house_id = %s AND name = 'T1-000003') AND seq = 1", kit.house.id)  # fmt: skip


@attack("hand_missing", "hand T1-000001")
def hand_removed(kit: Kit) -> None:
    """a hand's row removed with its lines"""
    change(f"DELETE FROM hands_handline WHERE {_LINE}", kit.house.id)
    change(f"DELETE FROM hands_hand WHERE {_HAND}", kit.house.id)


# --- Deals -----------------------------------------------------------------------------------------------------------

_DEALT = "hand T1-000001x2"


def forged_everywhere(kit: Kit, alter: Callable[[Forger], None]) -> None:
    """Re-chained, signed with the stolen key, and the files outside as the database has it: no proof is left but what
    the events say of each other."""
    forger = Forger(kit)
    alter(forger)
    forger.forge(_stolen())
    with guards_off() as cursor:
        cursor.execute("SELECT note FROM audit_checkpoint WHERE house_id = %s ORDER BY id", [kit.house.id])
        outside_file(kit).write_text(verifier.join_notes([note for (note,) in cursor.fetchall()]))


@attack("deal_differs", _DEALT, before=evening_of_deals)
def commitment(kit: Kit) -> None:
    """a prepared deal's commitment altered, everything forged that follows, outside the database as well"""

    def alter(forger: Forger) -> None:
        forger.lines[forger.find("deal.committed", 1)].doc["data"]["commitment"] = "ab" * 32

    forged_everywhere(kit, alter)


@attack("split_view", r"epoch 1, \d+ leaves", before=evening_of_deals)
def commitment_under_checkpoints_of_others(kit: Kit) -> None:
    """a prepared deal's commitment altered, re-chained and signed with the stolen key"""
    forger = Forger(kit)
    forger.lines[forger.find("deal.committed", 1)].doc["data"]["commitment"] = "ab" * 32
    forger.forge(_stolen())


@attack("deal_differs", _DEALT, before=evening_of_deals)
def client_seed(kit: Kit) -> None:
    """a client seed altered, everything forged that follows, outside the database as well"""

    def alter(forger: Forger) -> None:
        forger.lines[forger.find("deal.seed_taken")].doc["data"]["seed"] = "mallory"

    forged_everywhere(kit, alter)


@attack("deal_differs", _DEALT, before=evening_of_deals)
def client_seed_dropped(kit: Kit) -> None:
    """a client seed's event removed, everything forged that follows, outside the database as well"""

    def alter(forger: Forger) -> None:
        del forger.lines[forger.find("deal.seed_taken")]

    forged_everywhere(kit, alter)


@attack("deal_differs", _DEALT, before=evening_of_deals)
def abandonment_dropped(kit: Kit) -> None:
    """the abandonment of a deal removed, everything forged that follows, outside the database as well"""

    def alter(forger: Forger) -> None:
        del forger.lines[forger.find("deal.abandoned")]

    forged_everywhere(kit, alter)


# --- Entered cards ---------------------------------------------------------------------------------------------------

_LAST = ("hand.acted", -1)


@attack("hand_cards_differ", "hand T1-000001, entry 1", before=evening_of_entries)
def entered_card(kit: Kit) -> None:
    """an entered card altered where it comes to light, everything forged that follows, outside the database as well"""

    def alter(forger: Forger) -> None:
        forger.lines[forger.find(*_LAST)].doc["data"]["entered"][0]["card"] = "7h"

    forged_everywhere(kit, alter)


@attack("hand_cards_differ", "hand T1-000001, card 0 of p1", before=evening_of_entries)
def entered_card_with_its_hash(kit: Kit) -> None:
    """an entered card altered and its hash, everything forged that follows, outside the database as well"""

    def alter(forger: Forger) -> None:
        ending = forger.lines[forger.find(*_LAST)].doc["data"]
        entry = ending["entered"][0] | {"card": "7h"}
        ending["entered"][0] = entry
        recorded = [ending["hand"], entry["actor"], entry["index"], entry["card"], entry["salt"]]
        entries = forger.lines[forger.find("hand.cards_entered")].doc["data"]["entries"]
        entries[0]["hash"] = canonical.sha256(recorded)

    forged_everywhere(kit, alter)


@attack("hand_cards_differ", "hand T1-000001, entry 3", before=evening_of_entries)
def entered_card_dropped(kit: Kit) -> None:
    """the correction of an entered card left out at the end, everything forged, outside the database as well"""

    def alter(forger: Forger) -> None:
        del forger.lines[forger.find(*_LAST)].doc["data"]["entered"][2]

    forged_everywhere(kit, alter)


@attack("hand_cards_differ", "hand T1-000001, entry 3", before=evening_of_entries)
def entry_corrected_unheard(kit: Kit) -> None:
    """the event of a corrected card removed, everything forged that follows, outside the database as well"""

    def alter(forger: Forger) -> None:
        del forger.lines[forger.find("hand.entry_corrected")]

    forged_everywhere(kit, alter)


@attack("hand_cards_differ", "hand T1-000001, line 2", before=evening_of_entries)
def corrected_line(kit: Kit) -> None:
    """a corrected line altered where it comes to light, everything forged, outside the database as well"""

    def alter(forger: Forger) -> None:
        forger.lines[forger.find(*_LAST)].doc["data"]["log"][1] = "d dh p1 ??Oa"

    forged_everywhere(kit, alter)


# --- Versions --------------------------------------------------------------------------------------------------------


@attack("unknown_version", "table/T1#3")
def older_version(kit: Kit) -> None:
    """an event that says it is of version 1 and records no postings, everything forged that follows, outside the
    database as well"""

    def alter(forger: Forger) -> None:
        line = [line for line in forger.lines if line.chain == "table/T1"][2]
        line.doc["v"] = 1
        line.doc.pop("postings", None)

    forged_everywhere(kit, alter)


@attack("unknown_kind", "table/T1#3")
def invented_kind(kit: Kit) -> None:
    """an event of a kind that there is not, everything forged that follows, outside the database as well"""

    def alter(forger: Forger) -> None:
        line = [line for line in forger.lines if line.chain == "table/T1"][2]
        line.doc["kind"] = "table.blessed"

    forged_everywhere(kit, alter)


@attack("wrong_data", "table/T1#3")
def other_data(kit: Kit) -> None:
    """an event with a member that no event of its kind has, everything forged that follows, outside the database as
    well"""

    def alter(forger: Forger) -> None:
        line = [line for line in forger.lines if line.chain == "table/T1"][2]
        line.doc["data"]["note"] = "agreed with the office"

    forged_everywhere(kit, alter)


@attack("kind_in_wrong_chain", "drawer/C1#.*", before=evening_of_entries)
def recorded_elsewhere(kit: Kit) -> None:
    """an event of a hand moved to another chain, everything forged that follows, outside the database as well"""

    def alter(forger: Forger) -> None:
        forger.lines[forger.find("hand.acted", 2)].chain = "drawer/C1"

    forged_everywhere(kit, alter)


def matches(pattern: str, place: str) -> bool:
    """Whether a place is the one that was meant."""
    return re.match(f"(?:{pattern})(?:$|[ ,(])", place) is not None or re.fullmatch(pattern, place) is not None
