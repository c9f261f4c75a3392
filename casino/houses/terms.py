"""The house's own words, and what they mean: `terms.toml`."""

import tomllib
from functools import cache
from pathlib import Path

_TERMS = Path(__file__).with_name("terms.toml")


@cache
def house_words() -> dict[str, str]:
    """The house's words and what they mean. Raises KeyError for a term without one of the two."""
    terms = tomllib.loads(_TERMS.read_text(encoding="utf-8"))["term"]
    return {term["word"]: term["meaning"] for term in terms}
