"""Every way in which the engine refuses, as one tree of types.

::

    EngineError
    |-- SetupError              the hand cannot be started
    |   |-- UnknownGame         unknown_game
    |   |-- UnknownRules        unknown_rules         no version of any game's rules has that id
    |   |-- MalformedSetup      malformed_setup       seats, stacks, carry or dealer make no sense
    |   |-- StackTooShort       stack_too_short       a seat cannot cover its forced payments
    |   |-- SearchTooLarge      search_too_large      more positions than a search may look at
    |   `-- OptionError
    |       |-- UnknownOption       unknown_option
    |       |-- OptionMissing       option_missing        the table must set it, there is no default
    |       |-- OptionOutOfRange    option_out_of_range   wrong type, or a value that is never possible
    |       `-- UnsupportedVariant  unsupported_variant   a named variant that is not built
    |-- CardError
    |   |-- CardNotInPack       card_not_in_pack
    |   |-- CardAlreadyDealt    card_already_dealt
    |   |-- CardNotFromDeck     card_not_from_deck    the dealt card is not the next of the known deck
    |   |-- DeckMissing         deck_missing          a pack must be shuffled first
    |   |-- CardUnknown         card_unknown          a card must be named here, ``??`` will not do
    |   `-- CardMismatch        card_mismatch         shown cards are not the ones that were dealt
    |-- ActionError             the action is refused and nothing has changed
    |   |-- MalformedAction     malformed_action      not canonical ``<actor> <verb> <arguments>``
    |   |-- HandIsOver          hand_is_over
    |   |-- NotYourTurn         not_your_turn
    |   |-- VerbNotLegal        verb_not_legal
    |   |-- AmountOutOfRange    amount_out_of_range   expected: min, max, step
    |   |-- WrongTarget         wrong_target
    |   `-- WrongCount          wrong_count           a number of cards
    `-- RecordError
        |-- UnreadableRecord    unreadable_record     not a JSON object at all
        |-- UnknownVersion      unknown_version       of a version of the format that is not known
        |-- MalformedRecord     malformed_record      a JSON object, but no ``chr/1`` record
        |-- CommitMismatch      commit_mismatch       the seed is not the one committed to
        |-- DeckMismatch        deck_mismatch         the deck is not what the seeds give
        |-- RootMismatch        root_mismatch         the cards are not those that the root was made of
        |-- MalformedOpening    malformed_opening     not an opening of a card
        |-- OpeningMismatch     opening_mismatch      a card's opening does not lead to the root
        |-- LogIncomplete       log_incomplete        the log ends before the hand does
        `-- DerivedMismatch     derived_mismatch      net, tax, bonus, carry_out or state disagree

``code`` is stable and meant for programs, ``message`` for people, ``expected`` (JSON-able) says what would
have done.
"""

from __future__ import annotations

from typing import ClassVar


class EngineError(Exception):
    """Base of every refusal; never raised itself."""

    code: ClassVar[str] = "engine_error"

    def __init__(self, message: str, **expected: object) -> None:
        super().__init__(message)
        self.message = message
        self.expected: dict[str, object] = expected


class SetupError(EngineError):
    """The hand cannot be started."""

    code = "setup_error"


class UnknownGame(SetupError):
    """No such game in the registry."""

    code = "unknown_game"


class UnknownRules(SetupError):
    """No version of a game's rules has that id, or it is another game's."""

    code = "unknown_rules"


class MalformedSetup(SetupError):
    """Seats, stacks, carry or dealer are of the wrong type or contradict each other."""

    code = "malformed_setup"


class StackTooShort(SetupError):
    """A stack does not cover the payments that its seat can be forced to make."""

    code = "stack_too_short"


class SearchTooLarge(SetupError):
    """More positions than a search may look at."""

    code = "search_too_large"


class OptionError(SetupError):
    """An option of the table's rules is wrong."""

    code = "option_error"


class UnknownOption(OptionError):
    """The game has no option of that name."""

    code = "unknown_option"


class OptionMissing(OptionError):
    """An option without a default was not set."""

    code = "option_missing"


class OptionOutOfRange(OptionError):
    """The value has the wrong type or is never possible."""

    code = "option_out_of_range"


class UnsupportedVariant(OptionError):
    """The value names a real variant that is not built."""

    code = "unsupported_variant"


class CardError(EngineError):
    """A card cannot be where it is said to be."""

    code = "card_error"


class CardNotInPack(CardError):
    """The pack has no such card."""

    code = "card_not_in_pack"


class CardAlreadyDealt(CardError):
    """The card already lies somewhere else."""

    code = "card_already_dealt"


class CardNotFromDeck(CardError):
    """The deck is known and its next card is another one."""

    code = "card_not_from_deck"


class DeckMissing(CardError):
    """The cards must be shuffled again before they can be dealt."""

    code = "deck_missing"


class CardUnknown(CardError):
    """``??`` is given where a card must be named."""

    code = "card_unknown"


class CardMismatch(CardError):
    """The cards shown are not the cards dealt."""

    code = "card_mismatch"


class ActionError(EngineError):
    """An action is refused; the hand is as it was before."""

    code = "action_error"


class MalformedAction(ActionError):
    """The text is not a canonical action line."""

    code = "malformed_action"


class HandIsOver(ActionError):
    """Nothing may follow the end of a hand."""

    code = "hand_is_over"


class NotYourTurn(ActionError):
    """Another actor is to act."""

    code = "not_your_turn"


class VerbNotLegal(ActionError):
    """The actor may not do that now."""

    code = "verb_not_legal"


class AmountOutOfRange(ActionError):
    """The amount is too small, too large or off the step."""

    code = "amount_out_of_range"


class WrongTarget(ActionError):
    """The action is aimed at the wrong seat."""

    code = "wrong_target"


class WrongCount(ActionError):
    """The wrong number of cards."""

    code = "wrong_count"


class RecordError(EngineError):
    """A hand record is refused as a whole."""

    code = "record_error"


class UnreadableRecord(RecordError):
    """Not a JSON object at all."""

    code = "unreadable_record"


class UnknownVersion(RecordError):
    """A record of a newer version of the format, or of one that never was."""

    code = "unknown_version"


class MalformedRecord(RecordError):
    """A JSON object, but not a ``chr/1`` record."""

    code = "malformed_record"


class CommitMismatch(RecordError):
    """The revealed seed does not open the commitment."""

    code = "commit_mismatch"


class DeckMismatch(RecordError):
    """The deck, or a redeal, is not what the seed and the client seeds give."""

    code = "deck_mismatch"


class RootMismatch(RecordError):
    """The cards are not those that the root was made of."""

    code = "root_mismatch"


class MalformedOpening(RecordError):
    """A JSON object, but not the opening of a card."""

    code = "malformed_opening"


class OpeningMismatch(RecordError):
    """The opening of a card does not lead to the root."""

    code = "opening_mismatch"


class LogIncomplete(RecordError):
    """The log ends before the hand does."""

    code = "log_incomplete"


class DerivedMismatch(RecordError):
    """A stored result is not what the log gives."""

    code = "derived_mismatch"
