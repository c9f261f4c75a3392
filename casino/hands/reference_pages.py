"""The engine's part of the generated reference: a page for each game, and the words of the games."""

from engine.reference import WordOfGames, pages, words


def game_pages() -> dict[str, str]:
    """The pages of the games: path below the folder of the reference, and Markdown."""
    return pages()


def game_words() -> list[WordOfGames]:
    """The words of the games, each with the games that use it, in the order of the English ones."""
    return words()
