"""The package's own face: what `import engine` gives, and what it costs."""

from __future__ import annotations

import doctest
import subprocess
import sys
from importlib.resources import files
from typing import get_type_hints

import engine
from engine import errors

HEAVY = ("engine.registry", "engine.vying", "engine.kernel.hand", "engine.record", "json", "hashlib", "dataclasses")


def fresh(code: str) -> str:
    """What a new interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_every_public_name_is_there_and_none_stands_twice():
    assert len(set(engine.__all__)) == len(engine.__all__)
    assert all(getattr(engine, name) is not None for name in engine.__all__)
    assert set(engine.__all__) <= set(dir(engine))


def test_a_name_that_is_not_public_is_refused_like_any_other_attribute():
    assert not hasattr(engine, "nothing_of_the_kind")


def test_the_types_in_the_signatures_of_a_hand_are_public():
    """Whatever a method of a hand takes or gives can be named by `engine.NAME`."""
    public = {id(getattr(engine, name)) for name in engine.__all__}
    for name, member in vars(engine.Hand).items():
        if name.startswith("_"):
            continue
        function = member.fget if isinstance(member, property) else member
        for hint in get_type_hints(function).values():
            parts = [hint, *getattr(hint, "__args__", ())]
            ours = [part for part in parts if getattr(part, "__module__", "").startswith("engine.")]
            assert all(id(part) in public for part in ours), (name, ours)


def test_every_family_of_errors_is_public_and_each_error_has_its_code():
    families = {kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__subclasses__()}
    assert all(hasattr(engine, kind.__name__) for kind in families if issubclass(kind, errors.EngineError))


def test_importing_the_package_loads_nothing_of_it_but_the_errors():
    loaded = fresh("import sys, engine; print(*sys.modules)").split()
    assert not [name for name in loaded if name.startswith(HEAVY)]
    assert "engine.errors" in loaded


def test_one_game_is_played_without_loading_the_others():
    setup = "engine.Setup('ferbli', {'vizi': 100}, 2, (500, 500), dealer=2)"
    loaded = fresh(f"import sys, engine; engine.start({setup}); print(*sys.modules)").split()
    assert "engine.vying.ferbli" in loaded
    others = {engine.game_info(name).begin.__module__ for name in engine.game_names() if name != "ferbli"}
    assert not others & set(loaded)


def test_the_example_runs():
    result = doctest.testmod(engine)
    assert result.attempted and not result.failed


def test_the_package_says_that_it_is_typed():
    assert files("engine").joinpath("py.typed").is_file()
