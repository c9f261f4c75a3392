"""What PostgreSQL keeps of players. A person's key is deleted by one function only."""

from casino.core.protection import ADD, Function, Keep, Protection, Table

PROTECTION = Protection(
    tables=(
        Table(name="players_player", keep=Keep.TABLE, app=ADD),
        Table(name="players_person", keep=Keep.APPEND_ONLY, app=ADD),
        # A key is never another one, and never taken away in bulk.
        Table(name="players_personkey", keep=Keep.VALUES, app=ADD),
    ),
    functions=(Function(signature="players_destroy_key(bigint)", app=True),),
)
