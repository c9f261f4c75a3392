"""`glossary.md`: the house's words from `terms.toml`, the games' words from the declarations of the games."""

from casino.hands.reference_pages import game_words
from casino.houses.terms import house_words
from casino.reference.markdown import generated, table

HEAD = """
## Words of the house
"""
GAMES = """
## Words of the games

The rules of the games come in Hungarian and German; if English has no word, the Hungarian word is used.
Options and values of the API write these words without accents, such as `cuhhol` and `majzli_max`.
"""


def render() -> str:
    """The page."""
    house = table(("word", "meaning"), house_words().items())
    games = table(
        ("Hungarian", "German", "English", "meaning", "games"),
        ((*term, ", ".join(titles)) for term, titles in game_words()),
    )
    source = generated("`casino/houses/terms.toml` and the declarations of the games")
    return f"# Glossary\n\n{source}{HEAD}\n{house}{GAMES}\n{games}"
