"""Names of accounts and commodities as beancount and hledger take them, and back again.

Different codes always get different names, and each name says which code it stands for, whatever else is in the book.

beancount wants components that begin with a capital or a digit and go on with letters, digits and dashes. A small first
letter becomes a capital one; a component that begins with a capital by itself ends in a dash; any other character
becomes its number between dashes (`9130/T1` is `9130-2f-T1`), and a dash two dashes.
hledger takes nearly anything; what it does not is percent-encoded.
"""

import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import quote, unquote

ASSETS, LIABILITIES, EQUITY, INCOME, EXPENSES = ROOTS = ("Assets", "Liabilities", "Equity", "Income", "Expenses")
"""The five roots of plain-text accounting."""

_COMMODITY = re.compile(r"(?!(?:TRUE|FALSE|NULL)\Z)[A-Z](?:[A-Z0-9'._-]*[A-Z0-9])?")
_HIDDEN_COMMODITY = re.compile(r"X'([0-9A-F]*)'X")
_NOTHING = "X-0-"
"""Begins a component that could not begin by itself; NUL is in no code."""
_OWN = "Own-0-"
"""The last component of an account that has others below it."""
_ESCAPE = re.compile(r"-(?:(-)|([0-9a-f]+)-|\Z)")


def beancount_account(root: str, code: str, *, above_others: bool = False) -> str:
    """The account's name. beancount counts what is below an account as the account's own: what is on the account itself
    goes one level down then (`above_others`)."""
    components = [root, *map(_component, code.split(":"))]
    return ":".join([*components, _OWN] if above_others else components)


def beancount_code(name: str) -> str:
    """The code that `beancount_account` made the name of."""
    components = name.split(":")[1:]
    return ":".join(_original(component) for component in components if component != _OWN)


def beancount_commodity(commodity: str) -> str:
    """The commodity itself where beancount takes it, else its UTF-8 in hexadecimal digits: X'657572'X."""
    if _COMMODITY.fullmatch(commodity) and not _HIDDEN_COMMODITY.fullmatch(commodity):
        return commodity
    return f"X'{commodity.encode().hex().upper()}'X"


def beancount_commodity_code(name: str) -> str:
    """The commodity that `beancount_commodity` made the name of."""
    hidden = _HIDDEN_COMMODITY.fullmatch(name)
    return bytes.fromhex(hidden[1]).decode() if hidden else name


def hledger_account(root: str, code: str) -> str:
    """The account's name; a lone percent sign is a component without any character."""
    return ":".join([root.lower(), *(hledger_text(component) or "%" for component in code.split(":"))])


def hledger_code(name: str) -> str:
    """The code that `hledger_account` made the name of."""
    return ":".join("" if component == "%" else unquote(component) for component in name.split(":")[1:])


def hledger_commodity(commodity: str) -> str:
    """The commodity as it is written in a journal: in quotation marks unless it is nothing but ASCII letters."""
    if commodity.isascii() and commodity.isalpha():
        return commodity
    return f'"{hledger_text(commodity, also=chr(34))}"'


def hledger_commodity_code(name: str) -> str:
    """The commodity that hledger reports by this name, without quotation marks."""
    return unquote(name)


def hledger_text(text: str, *, also: str = "") -> str:
    """Text on one line of a journal, percent-encoded: what would end it, and the characters in `also`."""
    return "".join(_percent(text, also))


def _percent(text: str, also: str) -> Iterator[str]:
    before = " "
    for character, after in zip(text, text[1:] + " ", strict=False):
        edge = character == " " and " " in (before, after)
        if edge or character in "%;" or character in also or not character.isprintable():
            yield quote(character, safe="")
        else:
            yield character
        before = character


def _component(text: str) -> str:
    first = text[:1]
    category = unicodedata.category(first or " ")
    capital = first.upper()
    if category == "Nd":
        return _escaped(text)
    if category == "Lu":
        return f"{_escaped(text)}-"
    if len(capital) == 1 and unicodedata.category(capital) == "Lu" and capital.lower() == first:
        return capital + _escaped(text[1:])
    return _NOTHING + _escaped(text)


def _escaped(text: str) -> str:
    return "".join(map(_escape, text))


def _escape(character: str) -> str:
    if character == "-":
        return "--"
    category = unicodedata.category(character)
    return character if category == "Nd" or category.startswith("L") else f"-{ord(character):x}-"


def _original(component: str) -> str:
    if component.startswith(_NOTHING):
        return _unescaped(component.removeprefix(_NOTHING))
    text = _unescaped(component)
    return text[:-1] if text.endswith("\0") else text[:1].lower() + text[1:]


def _unescaped(text: str) -> str:
    """The text; a NUL stands for the dash that says that the first letter is a capital by itself."""
    return _ESCAPE.sub(lambda found: found[1] or chr(int(found[2] or "0", 16)), text)
