"""Which tests are left to `make slow`: the list names tests that there are, and follows new measurements."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests import slow

ROOT = Path(__file__).parent.parent
REPORT = """<testsuites><testsuite>
<testcase classname="tests.one" name="test_long[a]" time="0.2"/>
<testcase classname="tests.one" name="test_long[b]" time="2.0"/>
<testcase classname="tests.one" name="test_short" time="0.3"/>
<testcase classname="tests.one" name="test_left_out" time="0.0"><skipped/></testcase>
</testsuite></testsuites>"""


def test_the_list_names_tests_that_there_are_in_order() -> None:
    lines = slow.LIST.read_text().splitlines()
    assert lines == sorted(set(lines))
    written = {}
    for line in lines:
        path, _, test = line.partition("::")
        if path not in written:
            tree = ast.parse((ROOT / path).read_text())
            written[path] = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert test in written[path], f"{line} is no more: take it out of {slow.LIST.name}, or name it as it is now"


def test_a_measurement_takes_up_what_was_slow_and_takes_out_what_was_quick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    monkeypatch.setattr(slow, "LIST", tmp_path / "list")
    slow.LIST.write_text("tests/one.py::test_left_out\ntests/one.py::test_short\ntests/two.py::test_not_measured\n")
    slow.main([str(report)])
    assert slow.listed() == {
        "tests/one.py::test_long", "tests/one.py::test_left_out", "tests/two.py::test_not_measured",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["test_what_is_listed_is_slow_with_all_its_cases", "test_another"])
def test_what_is_listed_is_slow_with_all_its_cases(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(slow, "LIST", tmp_path / "list")
    slow.LIST.write_text(f"tests/test_slow.py::{name}\n")
    slow.mark_measured([request.node])
    assert (request.node.get_closest_marker("slow") is not None) == (name != "test_another")
