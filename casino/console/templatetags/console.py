"""What the templates of the screens need: money, cards, addresses."""

from typing import Any
from uuid import uuid4

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from casino.console import glossary, said
from casino.console.show import cell
from casino.core import languages

register = template.Library()

#: Names of suits, for those who hear the page.
SUITS = {"a": "acorns", "l": "leaves", "b": "bells", "h": "hearts", "c": "clubs", "d": "diamonds", "s": "spades"}
#: Ranks by their letters, and how the name of a card is made of both.
RANKS = "23456789TXJUQOKA"
CARD = "{rank} {suit}"
_SIGNS = {"c": "\N{BLACK CLUB SUIT}", "d": "\N{BLACK DIAMOND SUIT}", "s": "\N{BLACK SPADE SUIT}"}
_RED = frozenset("hd")


@register.filter
def money(amount: Any, screen: Any) -> str:
    """Minor units, as the house writes amounts."""
    return screen.money.shown(amount) if isinstance(amount, int) else ""


@register.filter
def moment(text: Any, screen: Any) -> str:
    """A time of an answer, by the house's clocks."""
    return screen.money.moment(text) if isinstance(text, str) else ""


register.filter("label", said.label)
register.filter("code", said.code)
register.filter("of_table", said.of_table)
register.filter("refusal", said.refusal)
register.filter("original", said.original)
register.filter("pointed", said.pointed)
register.filter("field_error", said.field_error)


@register.filter
def of_report(text: str) -> str:
    """A text of a report's declaration."""
    return languages.said(languages.Kind.REPORT, text)


@register.filter
def of_tag(text: str) -> str:
    """A group of operations."""
    return languages.said(languages.Kind.TAG, text)


@register.simple_tag(takes_context=True)
def figures(context: Any, problem: dict[str, Any]) -> list[tuple[str, Any]]:
    """What a refusal says besides its sentence: names, and values as the house writes them."""
    screen = context.get("screen")
    return [
        (said.label(name), cell(name, value, screen.money) if screen is not None else value)
        for name, value in said.figures(problem)
    ]  # fmt: skip


@register.simple_tag
def card(code: str) -> SafeString:
    """A card: its face, or its back where nobody has said which it is."""
    if code == "??":
        return format_html('<span class="card back" role="img" aria-label="{}"></span>', gettext("face down"))
    rank, suit = code[0], code[1]
    named = card_name(rank, suit)
    picture = (
        format_html("<i>{}</i>", _SIGNS[suit])
        if suit in _SIGNS
        else format_html('<svg aria-hidden="true"><use href="{}#{}"></use></svg>', static("console/suits.svg"), suit)
    )
    return format_html(
        '<span class="card{}" role="img" aria-label="{}"><b aria-hidden="true">{}</b>{}</span>',
        " red" if suit in _RED else "", named, "10" if rank in "XT" else rank, picture,
    )  # fmt: skip


def card_name(rank: str, suit: str) -> str:
    """The name of a card for those who hear the page, in the order of its language."""
    named = languages.said(languages.Kind.TABLE, f"rank {rank}").removeprefix("rank ")
    colour = languages.said(languages.Kind.TABLE, SUITS.get(suit, suit))
    return languages.said(languages.Kind.TABLE, CARD).format(rank=named, suit=colour)


@register.inclusion_tag("console/explained.html")
def explained(name: str) -> dict[str, Any]:
    """A button that shows what a word of the house means, beside where it is used."""
    return {"word": glossary.meaning(name), "tip": f"tip-{uuid4().hex}"}


@register.filter
def meaning(name: str) -> str:
    """What a word of the house means; nothing for none."""
    return glossary.meaning(name).meaning if name else ""


@register.simple_tag
def query(given: dict[str, Any]) -> str:
    """A query string."""
    return urlencode(given)


@register.simple_tag
def key() -> str:
    """A key of its own for a form: what is sent twice under it counts once."""
    return uuid4().hex


@register.simple_tag
def typed_in(typed: Any, start: str, name: str) -> str:
    """What was typed in the field `start` + `name`."""
    return str(typed.get(f"{start}{name}", ""))
