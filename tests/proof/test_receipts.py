"""Receipts checked offline: exit 0 only for the one true text, else 1 or 2 and plain words."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from casino.audit import tree, zipapp
from casino.audit.verifier import command, json_text
from casino.audit.verifier.receipts import FORMAT
from tests.proof.model import World, leaf, root
from tests.proof.test_witnesses import FIRST, SECOND, cosigned

INDEX = 6


def inclusion(leaves: list[bytes], index: int) -> list[str]:
    """The path of a leaf, every subtree hashed from its leaves."""
    return [root(leaves[begin:end]).hex() for begin, end in tree.inclusion(index, len(leaves))]


def made(world: World, index: int, size: int) -> dict[str, Any]:
    """The receipt of an event against the checkpoint of a size, which the first witness has cosigned."""
    leaves = [leaf(payload) for payload in world.payloads[:size]]
    return {
        "format": FORMAT,
        "hash": leaves[index].hex(),
        "epoch": 1,
        "leaf_index": index,
        "size": size,
        "path": inclusion(leaves, index),
        "checkpoint": cosigned(world.note(size), FIRST),
    }


@pytest.fixture(scope="module")
def world() -> World:
    """A house whose log has some leaves."""
    return World().evening()


@pytest.fixture
def judged(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Judges a receipt, or any bytes, as the command does: exit code and everything printed."""
    file = tmp_path / "receipt.json"

    def judge(given: dict[str, Any] | bytes, *arguments: str) -> tuple[int, str]:
        file.write_bytes(given if isinstance(given, bytes) else json_text(given).encode())
        code = command.main(["receipt", str(file), "--key", world.vkey, *arguments])
        said = capsys.readouterr()
        text = said.out + said.err
        assert text and all(one == "\n" or one.isprintable() for one in text)
        return code, text

    return judge


def test_every_leaf_of_every_checkpoint_is_proved(world: World, judged: Callable[..., tuple[int, str]]) -> None:
    for size in world.sizes:
        for index in range(size):
            receipt = made(world, index, size)
            code, text = judged(receipt, "--hash", receipt["hash"], "--witness", FIRST.vkey)
            assert code == 0, text
            assert text.startswith(f"proved: the event of hash {receipt['hash']} is leaf {index} of the {size} leaves")
            assert "witness.example/w1 cosigned at 2026-" in text


def test_what_the_answer_rests_on_is_said(world: World, judged: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    receipt = made(world, INDEX, world.sizes[-1])
    code, text = judged(receipt)
    assert code == 0 and "rests on the house's key alone" in text and "--hash" in text
    held = tmp_path / "held"
    held.write_text("".join(f"{note}\n" for note in world.notes()))
    code, text = judged(receipt, "--checkpoint", str(held))
    assert code == 0 and "has the same checkpoint" in text and "key alone" not in text


@pytest.mark.slow
def test_no_byte_of_a_receipt_can_be_changed(world: World, judged: Callable[..., tuple[int, str]]) -> None:
    receipt = made(world, INDEX, world.sizes[-1])
    good = json_text(receipt).encode()
    asked = ("--hash", receipt["hash"], "--witness", FIRST.vkey)
    assert judged(good, *asked)[0] == 0
    for at in range(len(good)):
        flipped = good[:at] + bytes([good[at] ^ (0x01, 0x20, 0x80)[at % 3]]) + good[at + 1 :]
        assert judged(flipped, *asked)[0] in (1, 2), (at, flipped)
    for cut in range(0, len(good), 3):
        assert judged(good[:cut], *asked)[0] == 2
    for around in (good + b"\n", b" " + good, b"\xef\xbb\xbf" + good, good + good, json.dumps(receipt).encode()):
        assert judged(around, *asked)[0] == 2


def other_root(world: World, receipt: dict[str, Any]) -> dict[str, Any]:
    """A path that fits a root which the house has not signed."""
    return receipt | {"checkpoint": World(seed=8).evening().note(receipt["size"])}


HOSTILE: dict[str, tuple[Callable[[World, dict[str, Any]], dict[str, Any]], int, str]] = {
    "path cut": (lambda _, one: one | {"path": one["path"][:-1]}, 1, "not_included"),
    "path longer": (lambda _, one: one | {"path": [*one["path"], "0" * 64]}, 1, "not_included"),
    "path turned": (lambda _, one: one | {"path": one["path"][::-1]}, 1, "not_included"),
    "path empty": (lambda _, one: one | {"path": []}, 1, "not_included"),
    "path endless": (lambda _, one: one | {"path": ["0" * 64] * 65}, 2, "64 hashes at most"),
    "other leaf": (lambda world, one: one | {"hash": leaf(world.payloads[INDEX + 1]).hex()}, 1, "not_included"),
    "other index": (lambda _, one: one | {"leaf_index": INDEX + 1}, 1, "not_included"),
    "other receipt": (lambda world, one: made(world, INDEX + 1, one["size"]), 1, "hash_differs"),
    "other size": (lambda _, one: one | {"size": one["size"] + 1}, 1, "checkpoint_differs"),
    "other epoch": (lambda _, one: one | {"epoch": 2}, 1, "checkpoint_differs"),
    "index beyond": (lambda _, one: one | {"leaf_index": one["size"]}, 2, "below size"),
    "index negative": (lambda _, one: one | {"leaf_index": -1}, 2, "below size"),
    "true for 1": (lambda _, one: one | {"epoch": True}, 2, "has the members"),
    "unknown member": (lambda _, one: one | {"note": "x"}, 2, "has the members"),
    "other format": (lambda _, one: one | {"format": "cukassza/receipt/2"}, 2, "has the members"),
    "upper case": (lambda _, one: one | {"hash": one["hash"].upper()}, 2, "lower case"),
    "no note": (lambda _, one: one | {"checkpoint": "x\x1b[2J"}, 2, "a note is"),
    "path of numbers": (lambda _, one: one | {"path": [1]}, 2, "lower case"),
    "another house's note": (other_root, 1, "note_not_signed"),
    "no cosignature": (lambda world, one: one | {"checkpoint": world.note(one["size"])}, 1, "not_cosigned"),
    "others' cosignature": (
        lambda world, one: one | {"checkpoint": cosigned(world.note(one["size"]), SECOND)}, 1, "not_cosigned",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_receipt(world: World, judged: Callable[..., tuple[int, str]], name: str) -> None:
    change, expected, word = HOSTILE[name]
    good = made(world, INDEX, world.sizes[-1])
    code, text = judged(change(world, good), "--hash", good["hash"], "--witness", FIRST.vkey)
    assert (code, word in text) == (expected, True), text


def test_a_cosignature_of_another_checkpoint_is_wrong(world: World, judged: Callable[..., tuple[int, str]]) -> None:
    good = made(world, INDEX, world.sizes[-1])
    line = cosigned(world.note(world.sizes[0]), FIRST).splitlines(keepends=True)[-1]
    code, text = judged(good | {"checkpoint": world.note(good["size"]) + line}, "--witness", FIRST.vkey)
    assert code == 1 and "cosignature_wrong" in text


def test_held_checkpoints_must_be_the_same(
    world: World, judged: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    receipt, held = made(world, INDEX, world.sizes[-1]), tmp_path / "held"
    held.write_text(f"{world.note(receipt['size'], root_hash=bytes(32))}\n")
    code, text = judged(receipt, "--checkpoint", str(held))
    assert code == 1 and "split_view" in text
    held.write_text(f"{world.note(world.sizes[0])}\n")
    code, text = judged(receipt, "--checkpoint", str(held))
    assert code == 1 and "checkpoint_not_held" in text
    held.write_text("")
    code, text = judged(receipt, "--checkpoint", str(held))
    assert code == 1 and "checkpoint_not_held" in text
    held.write_text("no note\n")
    assert judged(receipt, "--checkpoint", str(held))[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [["receipt"], ["receipt", "FILE"], ["receipt", "FILE", "--key", "x"], ["receipt", "/dev/zero", "--key", "VKEY"],
     ["receipt", "FILE", "--key", "VKEY", "--hash", "1"], ["receipt", "FILE", "--key", "VKEY", "--witness", "x"]],
)  # fmt: skip
def test_unusable_arguments(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(json_text(made(world, INDEX, world.sizes[-1])))
    given = [{"FILE": str(file), "VKEY": world.vkey}.get(one, one) for one in arguments]
    assert command.main(given) == 2
    assert capsys.readouterr().err


def test_the_archive_checks_a_receipt_by_itself(world: World, tmp_path: Path) -> None:
    program, file = tmp_path / "verify.pyz", tmp_path / "receipt.json"
    program.write_bytes(zipapp.built())
    file.write_text(json_text(made(world, INDEX, world.sizes[-1])))
    run = subprocess.run(
        [sys.executable, "-I", program, "receipt", file, "--key", world.vkey],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    assert run.stdout.startswith("proved: ")
