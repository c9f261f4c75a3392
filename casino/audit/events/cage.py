"""The cage: vault, drawers, and what players exchange there. Chips as pieces by denomination."""

from typing import Any

from casino.audit.events.registry import Told, event, told


@event("vault.opened", chain="house")
def vault_opened(*, capital: int, chips: dict[str, int]) -> Told:
    """The owners' capital in cash and the commissioned chips came into the vault."""
    return told(capital=capital, chips=chips)


@event("drawer.set_up", chain="drawer")
def drawer_set_up() -> Told:
    """A drawer was set up, closed and empty."""
    return told()


@event("drawer.opened", chain="drawer")
def drawer_opened(*, float_cash: int, float_chips: int, float_pieces: dict[str, int]) -> Told:
    """A drawer was opened with a float from the vault; `float_chips` is what the pieces are worth."""
    return told(float_cash=float_cash, float_chips=float_chips, float_pieces=float_pieces)


@event("drawer.closed", chain="drawer")
def drawer_closed(*, reconciliation: dict[str, Any]) -> Told:
    """A drawer was counted and emptied into the vault: what was expected, counted, over or short."""
    return told(reconciliation=reconciliation)


@event("cage.buy_in", chain="drawer")
def buy_in(*, player: str, amount: int, player_chips: int, exchanged: dict[str, int]) -> Told:
    """A player gave cash for chips; `player_chips` is what he then had away from the tables."""
    return told(player=player, amount=amount, player_chips=player_chips, exchanged=exchanged)


@event("cage.cash_out", chain="drawer")
def cash_out(
    *, player: str, amount: int, player_chips: int, exchanged: dict[str, int], change: dict[str, int] | None = None
) -> Told:
    """A player gave chips for cash, and got `change` in chips where the exact ones were not to be had."""
    return told(player=player, amount=amount, player_chips=player_chips, exchanged=exchanged, change=change)


@event("cage.exchange", chain="drawer")
def exchange(*, exchange: dict[str, Any]) -> Told:
    """Chips of the public were changed into others of the same worth."""
    return told(exchange=exchange)


@event("cage.foreign_chips", chain="drawer")
def foreign_chips(*, foreign_chips: dict[str, Any]) -> Told:
    """Chips of another house were bought for cash at face value."""
    return told(foreign_chips=foreign_chips)


@event("cage.tronc_paid", chain="drawer")
def tronc_paid(*, tronc: dict[str, Any]) -> Told:
    """The tip box of a table was emptied and the staff got its worth in cash."""
    return told(tronc=tronc)
