"""JSON schemas of answers that depend on the game or the event, as precise as possible."""

from typing import Any

from rest_framework import serializers

_TEXT = {"type": "string"}
_AMOUNT = {"type": "integer", "format": "int64"}
_CARDS = {"type": "array", "items": _TEXT}
_AMOUNTS = {"type": "array", "items": _AMOUNT}


class Shaped(serializers.JSONField):
    """A JSON value of this shape, an OpenAPI 3.0 schema."""

    def __init__(self, schema: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._spectacular_annotation = {"field": schema}


def _described(**properties: tuple[dict[str, Any], str]) -> dict[str, Any]:
    return {name: {**schema, "description": meaning} for name, (schema, meaning) in properties.items()}


#: Possible values of a game's option.
OPTION = {"oneOf": [_TEXT, {"type": "integer"}, {"type": "boolean"}, _CARDS], "nullable": True}
#: Options of a game by their names; `GET games/NAME` lists them.
OPTIONS = {"type": "object", "additionalProperties": OPTION}
_SCALARS = [_TEXT, {"type": "integer"}, {"type": "boolean"}]
#: What a game carries from deal to deal besides money, by the game's own names: a number, a name or cards; a list with
#: a value for each seat; or values by the reference of the player.
SERIES = {
    "type": "object",
    "additionalProperties": {
        "oneOf": [
            *_SCALARS,
            {"type": "array", "items": {"oneOf": _SCALARS}},
            {"type": "object", "additionalProperties": {"oneOf": [{"type": "integer"}, _CARDS]}},
        ]
    },
}
#: What a posting says of itself, by name.
METADATA = {"type": "object", "additionalProperties": {"oneOf": [*_SCALARS, _CARDS]}}
#: Chips, pieces by denomination.
CHIPS = {"type": "object", "additionalProperties": {"type": "integer"}}
#: Amounts by name, in minor units.
BY_NAME = {"type": "object", "additionalProperties": _AMOUNT}

#: The seats of a hand in play order.
HAND_SEATS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["actor", "seat", "player"],
        "properties": _described(
            actor=(_TEXT, "Name of the seat in the hand: `p1` comes first after the button."),
            seat=({"type": "integer"}, "Number of the seat at the table."),
            player=(_TEXT, "Reference of the player."),
        ),
    },
}
#: The ledger's balances for a hand.
BALANCES = {
    "type": "object",
    "required": ["pot", "cukassza", "bank", "stacks"],
    "properties": _described(
        pot=(_AMOUNT, "The pot, in minor units."),
        cukassza=(_AMOUNT, "The pot that is carried over, in minor units."),
        bank=(_AMOUNT, "Money that the seats hold in common, in minor units."),
        stacks=(BY_NAME, "Chips in front of each seat of the hand, in minor units."),
    ),
}
#: The result of a hand.
RESULT = {
    "type": "object",
    "nullable": True,
    "required": ["net", "tax", "carry_out", "bonus", "ending", "winner"],
    "properties": _described(
        net=(_AMOUNTS, "What each seat has won or lost, in play order, in minor units."),
        tax=(_AMOUNT, "The house tax, in minor units."),
        carry_out=(_AMOUNT, "Money that is carried over, in minor units."),
        bonus=(_AMOUNTS, "Bonuses of the house by seat, in minor units."),
        ending=(_TEXT, "How the hand ended, in the game's words."),
        winner=({"type": "integer"}, "Number of the seat that won, in play order; 0: nobody or several."),
        series=(SERIES, "What the game carries to the next deal besides money."),
    ),
}
#: A hand as a viewer sees it; games add other members to the view and to its seats.
VIEW: dict[str, Any] = {
    "type": "object",
    "required": ["game", "phase", "actor", "button", "carry", "pot", "stacks", "seats", "log"],
    "properties": _described(
        game=(_TEXT, "Name of the game."),
        viewer=(_TEXT, "The viewer: `public` is everybody."),
        phase=(_TEXT, "Phase of the hand."),
        actor=({**_TEXT, "nullable": True}, "Whose turn it is."),
        options=(OPTIONS, "Options that differ from their defaults."),
        button=(_TEXT, "The seat of the hand that deals."),
        carry=(_AMOUNT, "Money carried into the hand besides the stakes, in minor units."),
        pot=(_AMOUNT, "The pot, in minor units."),
        stacks=(_AMOUNTS, "Chips in front of each seat, in play order, in minor units."),
        log=({"type": "array", "items": _TEXT}, "The lines so far; a face-down card is `??`."),
    )
    | {
        "seats": {
            "type": "array",
            "description": "The seats of the hand, in play order.",
            "items": {
                "type": "object",
                "required": ["actor", "stack", "cards"],
                "properties": _described(
                    actor=(_TEXT, "Name of the seat in the hand."),
                    stack=(_AMOUNT, "Chips in front of the seat, in minor units."),
                    cards=(_CARDS, "Cards of the seat; a face-down card is `??`."),
                ),
                "additionalProperties": True,
            },
        }
    },
    "additionalProperties": True,
}
#: The table at one step of a replay: as a view, without what the replay says once.
STEP_VIEW = {
    **VIEW,
    "required": ["phase", "actor", "button", "carry", "pot", "seats"],
    "properties": {
        name: shape
        for name, shape in VIEW["properties"].items()
        if name not in {"game", "viewer", "options", "stacks", "log"}
    },
}
#: The event that a write has recorded: its kind, and the fields that the reference of events lists for it.
EVENT = {
    "type": "object",
    "required": ["kind"],
    "properties": _described(kind=(_TEXT, "Kind of the event, such as `table.opened`.")),
    "additionalProperties": True,
}
