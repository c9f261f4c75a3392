"""Words of a game in the three languages of its tables, as the glossary explains them."""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """One word: as it is said in Hungarian, German and English, empty if a language has no word, and what it means, in
    plain English."""

    hungarian: str
    german: str
    english: str
    meaning: str
