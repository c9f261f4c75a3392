"""Attacks on rows of state that no posting and no hand shows: people, limits, floors, times, cards that were entered.

Importing this module adds to `corpus.ATTACKS`."""

from tests.casino.kit import Kit
from tests.proof.corpus import attack
from tests.proof.superuser import change, evening_of_entries


@attack("state_differs", r"hands\.CardEntry T1-000001/1, hash", before=evening_of_entries)
def entries_swapped(kit: Kit) -> None:
    """two cards that were entered, swapped with their hashes"""
    change(
        "UPDATE hands_cardentry e SET sealed = o.sealed, hash = o.hash FROM hands_cardentry o "
        "WHERE e.house_id = %s AND o.hand_id = e.hand_id AND o.id <> e.id AND (SELECT count(*) FROM hands_cardentry b "
        "WHERE b.hand_id = e.hand_id AND b.id < greatest(e.id, o.id)) < 2",
        kit.house.id,
    )


@attack("state_differs", r"staff\.Staff dealer\d+@\S+, roles")
def role_given(kit: Kit) -> None:
    """a role given by an UPDATE"""
    change("UPDATE staff_staff SET roles = roles || ARRAY['admin'] WHERE house_id = %s AND 'dealer' = ANY (roles)",
           kit.house.id)  # fmt: skip


@attack("state_extra", r"staff\.Staff ghost")
def ghost_supervisor(kit: Kit) -> None:
    """a person whom nobody has hired"""
    change("INSERT INTO staff_staff (house_id, login, name, roles, is_active, password, password_givers, version) "
           "VALUES (%s, 'ghost', '', '{floor}', true, '', '{}', 1)", kit.house.id)  # fmt: skip


@attack("state_differs", r"ledger\.Account 2010/T1-u1 HUF, min_balance")
def floor_lowered(kit: Kit) -> None:
    """an account that may fall below zero"""
    change("UPDATE ledger_account SET min_balance = -1000000 WHERE book = %s AND code = '2010/T1-u1'", kit.house.id)


@attack("state_differs", r"tables\.Table T1, max_stack")
def limit_raised(kit: Kit) -> None:
    """a table's limit raised"""
    change("UPDATE tables_table SET max_stack = max_stack * 2 WHERE house_id = %s", kit.house.id)


@attack("state_differs", r"cage\.Shift C1/1, opened_at")
def time_moved(kit: Kit) -> None:
    """a time moved by a day"""
    change("UPDATE cage_shift SET opened_at = opened_at - interval '1 day' WHERE house_id = %s", kit.house.id)


@attack("state_missing", r"tables\.Seating T1/1/2/1")
def seating_deleted(kit: Kit) -> None:
    """a seating deleted"""
    change("DELETE FROM tables_seating WHERE house_id = %s AND seat = 2", kit.house.id)
