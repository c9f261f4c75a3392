"""What PostgreSQL keeps of hands, their logs and their deals."""

from casino.core.protection import ADD, READ, WRITE, Function, Keep, Protection, Table, Trigger

_CHANGE = "BEFORE UPDATE OR DELETE"
_WHILE_PLAYED = Trigger("while_played", "BEFORE INSERT", "hands_while_played")

PROTECTION = Protection(
    tables=(
        Table(
            name="hands_hand",
            keep=Keep.TABLE,
            triggers=(
                Trigger("inputs_stay", _CHANGE, "hands_inputs_stay"),
                Trigger("cards_stay", "BEFORE UPDATE", "hands_cards_stay"),
            ),
            app=WRITE,
        ),
        Table(
            name="hands_handline",
            keep=Keep.APPEND_ONLY,
            triggers=(Trigger("in_order", "AFTER INSERT", "hands_line_in_order", each="STATEMENT", added="added"),),
            app=ADD,
        ),
        Table(name="hands_deal", keep=Keep.TABLE, triggers=(Trigger("stays", _CHANGE, "hands_deal_stays"),), app=WRITE),
        Table(
            name="hands_clientseed",
            keep=Keep.APPEND_ONLY,
            triggers=(Trigger("before", "BEFORE INSERT", "hands_seed_before_deal"),),
            app=ADD,
        ),
        Table(
            name="hands_seedcommitment",
            keep=Keep.APPEND_ONLY,
            triggers=(Trigger("before", "BEFORE INSERT", "hands_seed_before_deal"),),
            app=ADD,
        ),
        Table(name="hands_cardentry", keep=Keep.APPEND_ONLY, triggers=(_WHILE_PLAYED,), app=ADD),
        Table(name="hands_correction", keep=Keep.APPEND_ONLY, triggers=(_WHILE_PLAYED,), app=ADD),
        Table(
            name="hands_laterruling",
            keep=Keep.APPEND_ONLY,
            triggers=(Trigger("in_order", "BEFORE INSERT", "hands_rulings_in_order"),),
            app=ADD,
        ),
        Table(
            name="hands_cardexception",
            keep=Keep.TABLE,
            triggers=(Trigger("stays", _CHANGE, "hands_exception_stays"),),
            app=WRITE,
        ),
        Table(name="hands_log", app=READ),
    ),
    functions=(
        Function(signature="hands_open(uuid, text, bigint, text, bigint, bigint, integer, integer)", app=True),
        Function(signature="hands_to_settle(bigint)", app=True),
        Function(signature="hands_unmoved(uuid, bigint, bigint, bigint, text)", app=True),
        Function(signature="hands_inputs_stay()"),
        Function(signature="hands_cards_stay()"),
        Function(signature="hands_line_in_order()"),
        Function(signature="hands_while_played()"),
        Function(signature="hands_deal_stays()"),
        Function(signature="hands_seed_before_deal()"),
        Function(signature="hands_exception_stays()"),
        Function(signature="hands_rulings_in_order()"),
    ),
)
