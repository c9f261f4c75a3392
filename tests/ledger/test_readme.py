"""The README's examples do what it says they do."""

import doctest
from pathlib import Path

import ledger

README = Path(ledger.__file__).with_name("README.md")


def test_examples(live_db: None) -> None:
    result = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert result.attempted > 15
    assert result.failed == 0
