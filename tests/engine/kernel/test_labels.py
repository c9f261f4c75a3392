"""What the buttons of a console say: each verb of a game has words and a key of its own."""

import pytest

import engine


@pytest.mark.parametrize("name", engine.game_names())
def test_every_verb_has_a_label_that_fits_and_a_key_of_its_own(name: str) -> None:
    keys: dict[str, str] = {}
    for verb in engine.game_info(name).grammar:
        assert 1 <= len(verb.label) <= 14, verb
        assert len(verb.key) == 1 and verb.key.isupper(), verb
        # A verb of house and seat alike has one key; digits are for amounts and seats.
        assert keys.setdefault(verb.key, verb.name) == verb.name, verb
