"""The verifier on exports of the independent model: nothing found in a good one, any changed byte found, and why."""

import contextlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from casino.audit import verifier, zipapp
from tests.proof.model import World, canonical

MOMENT = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{15}Z")
FILES = ("manifest.json", "events-1.jsonl", "tail.jsonl", "checkpoints", "ledger.jsonl", "hands.jsonl", "state.jsonl")


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export with the checkpoints and the key that others hold beside it."""
    folder = tmp_path_factory.mktemp("evening")
    world = good()
    world.write(folder / "export")
    (folder / "held").write_text(verifier.join_notes(world.notes()))
    (folder / "key").write_text(world.vkey)
    return folder


def verified(folder: Path, export: Path | None = None) -> verifier.Report:
    """The export against what is held."""
    held = [verifier.read_notes(folder / "held", "held", held=True)]
    keys = verifier.read_keys(str(folder / "key"))
    return verifier.verify_export(export or folder / "export", held, keys, program=World.verifier)


def first(world: World, folder: Path, *, held: World | None = None) -> tuple[str, str]:
    """Code and place of the first finding in what a world writes, against the checkpoints of another."""
    world.write(folder / "export")
    holder = held or world
    (folder / "held").write_text(verifier.join_notes(holder.notes()))
    (folder / "key").write_text(holder.vkey)
    findings = verified(folder).findings
    assert findings, "nothing was found"
    return findings[0].code, findings[0].place


def test_a_good_export_gives_nothing(evening: Path) -> None:
    report = verified(evening)
    assert report.findings == []
    assert report.counts == {
        "events": 45, "chains": 4, "leaves": 45, "checkpoints": 9, "transactions": 27, "accounts": 17, "hands": 6,
        "rows": 88,
    }  # fmt: skip
    assert report.notices == []


def command(evening: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """verify.pyz as a stranger runs it: the file, isolated from everything that is installed."""
    copy = evening / zipapp.FILE
    copy.write_bytes(zipapp.built())
    line = [sys.executable, "-I", "-S", "-W", "error", str(copy), *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=evening)


def test_the_file_runs_alone(evening: Path) -> None:
    done = command(evening, "export", "--checkpoints", "held", "--key", "key")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("nothing found\n")
    assert f"the manifest names the verifier with SHA-256 {World.verifier}; this is {zipapp.sha256()}" in done.stdout


def test_it_says_when_it_trusts_what_it_should_prove(evening: Path) -> None:
    done = command(evening, "export", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["ok"], len(answer["notices"])) == (0, True, 3)
    assert ["no key was given" in answer["notices"][0], "no checkpoints were given" in answer["notices"][1]] == [
        True
    ] * 2


def test_what_cannot_be_used_is_distinguished_from_what_is_wrong(evening: Path) -> None:
    for arguments in (["nowhere"], ["export", "--key", "x+y"], ["export", "--checkpoints", "nowhere"]):
        done = command(evening, *arguments)
        assert (done.returncode, done.stdout) == (2, ""), done


@pytest.mark.slow
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(FILES), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
@example("events-1.jsonl", 0.0, 1)
def test_any_changed_byte_of_any_file_is_found(evening: Path, name: str, part: float, flip: int) -> None:
    export = evening / "changed"
    shutil.rmtree(export, ignore_errors=True)
    shutil.copytree(evening / "export", export)
    raw = bytearray((export / name).read_bytes())
    if not raw:
        return
    at = int(part * len(raw))
    # Rows are proved to the minute: a time in one of them that is a little different is not found.
    assume(name != "state.jsonl" or not any(one.start() <= at < one.end() for one in MOMENT.finditer(raw)))
    raw[at] ^= flip
    (export / name).write_bytes(raw)
    with contextlib.suppress(verifier.Unusable):  # said as plainly: the file cannot be read
        report = verified(evening, export)
        other_verifier = [one for one in report.notices if "names the verifier" in one]
        assert report.findings or other_verifier, f"byte {at} of {name} is {raw[at - 20 : at + 20]!r}"


def test_a_clock_that_went_back_is_said_and_no_finding(tmp_path: Path) -> None:
    world = good()
    docs = [json.loads(payload) for payload in world.payloads]
    docs[10]["at"] = docs[10]["at"].replace(":1", ":4")  # half a minute later than it was
    rewritten(world, lambda _: docs).write(tmp_path)
    report = verifier.verify_export(tmp_path)
    assert (report.findings, sum("the clock went back" in text for text in report.notices)) == ([], 1)


@pytest.mark.parametrize(
    ("year", "codes"),
    [("2030", {"time_differs", "time_went_back"}), ("2020", {"time_differs", "time_went_back"})],
)
def test_a_time_that_no_checkpoint_beside_it_allows_is_found(tmp_path: Path, year: str, codes: set[str]) -> None:
    world = good()
    docs = [json.loads(payload) for payload in world.payloads]
    docs[-3]["at"] = docs[-3]["at"].replace("2026", year)
    rewritten(world, lambda _: docs).write(tmp_path)
    assert {one.code for one in verifier.verify_export(tmp_path).findings} & codes


def rewritten(world: World, change: Any) -> World:
    """A world whose payloads `change` has altered (a list of documents), linked again as a forger would."""
    docs = [json.loads(payload) for payload in world.payloads]
    docs = list(change(docs) or docs)
    heads: dict[str, tuple[int, str]] = {}
    world.payloads = []
    for doc in docs:
        seq, prev = heads.get(doc["chain"], (0, "0" * 64))
        doc |= {"seq": seq + 1, "prev": prev}
        payload = canonical(doc)
        heads[doc["chain"]] = (seq + 1, verifier.leaf_hash(payload.encode()).hex())
        world.payloads.append(payload)
    return world


def good() -> World:
    """An evening with a checkpoint over all of it: nothing but the link behind it would prove an event after that."""
    world = World().evening(hands=6)
    if world.sizes[-1] < len(world.payloads):
        world.sizes.append(len(world.payloads))
    return world


def edit(docs: list[dict[str, Any]]) -> None:
    docs[20]["request"] = "somebody's"


def test_a_forger_with_the_key_is_found_by_the_holder_of_a_checkpoint(tmp_path: Path) -> None:
    code, place = first(rewritten(good(), edit), tmp_path, held=good())
    assert (code, place) == ("split_view", "epoch 1, 25 leaves")


def test_a_forger_with_the_key_shows_to_nobody_who_holds_nothing(tmp_path: Path) -> None:
    world = rewritten(good(), edit)
    world.write(tmp_path)
    report = verifier.verify_export(tmp_path)
    assert (report.findings, len(report.notices)) == ([], 2)


def test_the_first_leaves_that_differ_lie_between_two_checkpoints(tmp_path: Path) -> None:
    world, held = rewritten(good(), edit), good()
    world.notes = held.notes  # type: ignore[method-assign]
    code, place = first(world, tmp_path, held=held)
    assert (code, place.startswith("epoch 1, leaves 20 to 24 (the first is table/T")) == ("leaves_differ", True)


def _hand(docs: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(doc for doc in docs if doc["kind"] == kind)


def _net(docs: list[dict[str, Any]]) -> None:
    for doc in docs:
        if "result" in doc["data"]:
            doc["data"]["result"]["net"] = [-90, 80]


def _stakes(docs: list[dict[str, Any]]) -> None:
    _hand(docs, "hand.dealt")["data"]["stacks"] = [4_000, 5_000]


def _legs(docs: list[dict[str, Any]]) -> None:
    next(doc for doc in docs if "postings" in doc)["postings"][0]["legs"][0][2] += 1


def _without_about(docs: list[dict[str, Any]]) -> None:
    for doc in docs:
        for posting in doc.get("postings", ()):
            del posting["about"]


def _settled_twice(docs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    at = docs.index(_hand(docs, "hand.settled"))
    return [*docs[: at + 1], json.loads(json.dumps(docs[at])), *docs[at + 1 :]]


def _line(docs: list[dict[str, Any]]) -> None:
    acted = [doc for doc in docs if doc["kind"] == "hand.acted"]
    acted[0]["data"]["lines"][0] = "p1 po 300"


def _not_mirrored(docs: list[dict[str, Any]]) -> None:
    voided = _hand(docs, "hand.voided")
    del voided["postings"][1]


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (_net, {"hand_money_differs", "hand_row_differs"}),
        (_stakes, {"stacks_differ", "hand_row_differs"}),
        (_legs, {"transaction_differs"}),
        (_without_about, {"transaction_differs"}),
        (_settled_twice, {"transaction_recorded_twice", "hand_differs"}),
        (_line, {"hand_differs"}),
        (_not_mirrored, {"transaction_unrecorded", "hand_money_differs"}),
    ],
)
def test_what_events_tell_is_replayed_even_where_they_are_forged_from_the_start(
    tmp_path: Path, change: Any, codes: set[str]
) -> None:
    # A house that lies to its own log, keys and checkpoints in order: the books and hands give it away.
    rewritten(good(), change).write(tmp_path)
    assert codes <= {finding.code for finding in verifier.verify_export(tmp_path).findings}


TRICKY = st.text(alphabet='"\\{}[],:?\x00\x1f\x7f é☃ab1', max_size=8)
ACTED = st.fixed_dictionaries(
    {
        "actor": TRICKY, "at": TRICKY, "chain": TRICKY, "house": TRICKY, "kind": st.sampled_from(["hand.acted", "x"]),
        "data": st.fixed_dictionaries(
            {"first_line": st.integers(-1, 12), "hand": TRICKY, "lines": st.lists(TRICKY, max_size=3),
             "table_version": st.integers(-1, 12)}
        ),
        "prev": TRICKY, "request": TRICKY, "role": TRICKY, "seq": st.integers(-1, 10**20), "terminal": TRICKY,
        "v": st.integers(1, 3),
    },
    optional={
        "postings": st.lists(
            st.fixed_dictionaries(
                {"about": TRICKY, "tx": st.integers(-1, 99),
                 "legs": st.lists(st.tuples(TRICKY, TRICKY, st.integers(-9, 9)).map(list), max_size=3)}
            ),
            max_size=2,
        )
    },
)  # fmt: skip


def recorded(doc: dict[str, Any]) -> dict[str, Any]:
    """What is verified of an event of lines, whichever way it was read."""
    kept = {name: value for name, value in doc.items() if name not in ("actor", "request", "role", "terminal")}
    return kept | {"data": {name: value for name, value in doc["data"].items() if name != "table_version"}}


@settings(deadline=None)
@given(st.lists(ACTED, min_size=1, max_size=4))
def test_the_quick_way_reads_events_as_json_does(docs: list[dict[str, Any]]) -> None:
    lines = [canonical(doc).encode() for doc in docs]
    reader = verifier.Verifier.__new__(verifier.Verifier)
    reader._mark, reader.report = 7, verifier.Report()
    assert [recorded(verifier.row_of(doc or {})) for doc in reader._documents(lines)] == [recorded(doc) for doc in docs]
    assert reader.report.findings == []


def altered(text: str) -> Iterator[str]:
    """Texts that say the same, or nearly, in another way."""
    yield text.replace(":", ": ", 1)
    yield text.replace("{", "{ ", 1)
    yield text.replace(",", " ,", 1)
    yield text.replace('"v":2', '"v":2,"v":2')
    yield text.replace('"v":2', '"v":2.0')
    yield text.replace('"seq":1', '"seq":-0')
    yield text.replace('"seq":1', '"seq":1e0')
    yield text.replace("hand.acted", "hand\\u002eacted")
    yield f"{text},{text}"
    yield text[:-1] + ',"w":NaN}'


def test_no_other_text_of_an_event_passes() -> None:
    doc = {
        "actor": "a", "at": "now", "chain": "table/T1", "house": "h", "kind": "hand.acted", "prev": "p", "seq": 1,
        "data": {"first_line": 1, "hand": "T1-000001", "lines": ["p1 k"], "table_version": 3}, "request": "r",
        "role": "dealer", "terminal": "t", "v": 2,
    }  # fmt: skip
    for text in altered(canonical(doc)):
        reader = verifier.Verifier.__new__(verifier.Verifier)
        reader._mark, reader.report = 7, verifier.Report()
        reader._documents([canonical(doc).encode(), text.encode()])
        assert [one.code for one in reader.report.findings] in (["not_canonical"], ["not_json"]), text


def test_two_lines_cannot_share_an_event() -> None:
    reader = verifier.Verifier.__new__(verifier.Verifier)
    reader._mark, reader.report = 7, verifier.Report()
    reader._documents([b'{"a":[{"b":1}', b'{"c":2}]}', b'{"d":3},{"e":4}'])
    assert {one.code for one in reader.report.findings} == {"not_json"}


@pytest.mark.parametrize(("name", "value"), [("seq", "one"), ("at", 7)])
def test_an_event_after_one_without_a_readable_head_is_a_finding_and_no_crash(
    tmp_path: Path, name: str, value: object
) -> None:
    world = good()
    dealt = next(at for at, payload in enumerate(world.payloads) if '"kind":"hand.dealt"' in payload)
    world.payloads[dealt] = canonical(json.loads(world.payloads[dealt]) | {name: value})
    world.write(tmp_path)
    codes = {one.code for one in verifier.verify_export(tmp_path).findings}
    assert "not_an_event" in codes
