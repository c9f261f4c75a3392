"""The witness by itself: what it cosigns, what it refuses and with which status, and that it forgets nothing."""

import base64
import hashlib
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from casino.audit import tree
from casino.audit.merkle import root_of
from deploy.witness.__main__ import main
from deploy.witness.checking import COSIGNATURE, ED25519, LogKey, Malformed, is_consistent, key_id
from deploy.witness.register import Refused, Register
from deploy.witness.server import WitnessServer

NAME = "cukassza/H-1"
ORIGIN = f"{NAME}/1"
LOG = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
LEAVES = [hashlib.sha256(bytes([number])).digest() for number in range(70)]


def log_key(name: str = NAME, key: Ed25519PrivateKey = LOG) -> str:
    public = key.public_key().public_bytes_raw()
    return f"{name}+{key_id(name, ED25519, public).hex()}+{base64.b64encode(ED25519 + public).decode()}"


def body_of(size: int, root: bytes, origin: str = ORIGIN) -> str:
    return f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"


def note(size: int, *, root: bytes | None = None, origin: str = ORIGIN, key: Ed25519PrivateKey = LOG) -> str:
    body = body_of(size, root_of(LEAVES[:size]) if root is None else root, origin)
    signature = key_id(NAME, ED25519, key.public_key().public_bytes_raw()) + key.sign(body.encode())
    return f"{body}\n\u2014 {NAME} {base64.b64encode(signature).decode()}\n"


NEW, THIEF = (Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (7, 9))


def rotation(
    size: int,
    old: Ed25519PrivateKey = LOG,
    new: Ed25519PrivateKey = NEW,
    *,
    signers: tuple[Ed25519PrivateKey, ...] = (),
    root: bytes | None = None,
) -> str:
    found = base64.b64encode(root_of(LEAVES[:size]) if root is None else root).decode()
    keys = f"{log_key(key=old)}\n{log_key(key=new)}"
    body = f"cukassza log key rotation v1\n{ORIGIN}\n{size}\n{found}\n{keys}\n"
    lines = ""
    for key, signer in zip((old, new), signers or (old, new), strict=True):
        signature = key_id(NAME, ED25519, key.public_key().public_bytes_raw()) + signer.sign(body.encode())
        lines += f"\u2014 {NAME} {base64.b64encode(signature).decode()}\n"
    return f"{body}\n{lines}"


def proof(old: int, new: int) -> list[bytes]:
    return [root_of(LEAVES[begin:end]) for begin, end in tree.consistency(old, new)]


class Client:
    """Speaks to a witness that runs in this process."""

    def __init__(self, server: WitnessServer) -> None:
        self.base = f"http://127.0.0.1:{server.server_address[1]}"

    def send(self, raw: bytes, path: str = "/add-checkpoint") -> tuple[int, str, str]:
        return self._answer(urllib.request.Request(f"{self.base}{path}", data=raw, method="POST"))

    def add(self, old: int, path: list[bytes], text: str) -> tuple[int, str, str]:
        lines = "".join(f"{base64.b64encode(one).decode()}\n" for one in path)
        return self.send(f"old {old}\n{lines}\n{text}".encode())

    def get(self, path: str) -> tuple[int, str, str]:
        return self._answer(urllib.request.Request(f"{self.base}{path}"))

    def _answer(self, request: urllib.request.Request) -> tuple[int, str, str]:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Content-Type"], error.read().decode()


@pytest.fixture
def register(tmp_path: Path) -> Register:
    made = Register.create(tmp_path / "w", "witness.example/w1")
    made.add_log(log_key())
    return made


@pytest.fixture
def client(register: Register) -> Iterator[Client]:
    with WitnessServer(("127.0.0.1", 0), register) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Client(server)
        server.shutdown()
        thread.join()


def test_it_cosigns_what_has_only_grown_and_the_cosignature_is_c2sps(register: Register, client: Client) -> None:
    at = 0
    for size in (5, 5, 8, 64, 70):
        status, _, line = client.add(at, proof(at, size) if at else [], note(size))
        assert status == 200
        at = size
        dash, name, encoded = line.rstrip("\n").split(" ")
        raw = base64.b64decode(encoded)
        public = register.cosigner.public
        assert (dash, name, raw[:4]) == ("\u2014", "witness.example/w1", key_id(name, COSIGNATURE, public))
        seconds = int.from_bytes(raw[4:12], "big")
        said = f"cosignature/v1\ntime {seconds}\n{body_of(size, root_of(LEAVES[:size]))}"
        Ed25519PublicKey.from_public_bytes(public).verify(raw[12:], said.encode())
        assert client.get(f"/checkpoint/{quote(ORIGIN, safe='')}")[2] == note(size) + line
    assert client.get("/key")[2] == f"{register.cosigner.vkey}\n"
    assert client.get("/checkpoint/other")[0] == client.get("/")[0] == 404


def test_every_refusal_has_the_status_that_the_protocol_says(client: Client) -> None:
    stranger = Ed25519PrivateKey.from_private_bytes(bytes(32))
    assert client.add(0, [], note(5, origin="cukassza/other/1"))[0] == 404
    assert client.add(0, [], note(5, key=stranger))[0] == 403
    assert client.add(6, [], note(5))[0] == 400
    assert client.add(3, proof(3, 5), note(5)) == (409, "text/x.tlog.size", "0\n")
    assert client.add(0, proof(3, 5), note(5))[0] == 422
    assert client.add(0, [], note(5))[0] == 200
    assert client.add(0, [], note(9)) == (409, "text/x.tlog.size", "5\n")
    assert client.add(5, [], note(5, root=bytes(32))) == (409, "text/x.tlog.size", "5\n")
    assert client.add(5, proof(5, 9)[::-1], note(9))[0] == 422
    assert client.add(5, proof(5, 9), note(9, root=bytes(32)))[0] == 422
    assert client.add(5, [*proof(5, 9), bytes(32)], note(9))[0] == 422
    # An epoch is a log of its own; what was cosigned of the first one stays.
    assert client.add(0, [], note(2, origin=f"{NAME}/2"))[0] == 200
    assert client.add(5, proof(5, 9), note(9))[0] == 200


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"old 0", b"old 0\n\n", b"old x\n\nx", b"old 00\n\n" + note(5).encode(), b"\xff\n\n", b"new 0\n\nx",
        b"old 0\nnot base64\n\n" + note(5).encode(), b"old 0\n\n" + note(5).encode()[:-1],
        b"old 0\n" + b"AAAA\n" * 64 + b"\n" + note(5).encode(),
        b"old 0\n\n" + note(5).replace("\n5\n", "\n05\n").encode(),
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(client: Client, raw: bytes) -> None:
    assert client.send(raw)[0] == 400
    assert client.add(0, [], note(5))[0] == 200


def test_a_request_that_is_too_long_is_not_read(client: Client) -> None:
    assert client.send(b"x" * 20_000)[0] == 413
    assert client.send(note(5).encode(), "/elsewhere")[0] == 404


def test_it_remembers_what_it_cosigned_and_does_not_start_over_under_its_name(register: Register) -> None:
    register.cosign(0, [], note(8))
    again = Register(register.folder)
    assert again.cosigner.vkey == register.cosigner.vkey
    with pytest.raises(Exception, match="8 leaves were cosigned"):
        again.cosign(0, [], note(9))
    (register.folder / "witness.sqlite").unlink()
    with pytest.raises(FileNotFoundError, match="not known"):
        Register(register.folder)
    with pytest.raises(FileExistsError):
        Register.create(register.folder, "witness.example/w1")


def test_of_two_histories_at_once_it_cosigns_one(register: Register) -> None:
    register.cosign(0, [], note(4))
    others = [*LEAVES[:4], *(bytes([number]) * 32 for number in range(4))]
    forked = [root_of(others[begin:end]) for begin, end in tree.consistency(4, 8)]

    def cosign(path: list[bytes], text: str) -> str:
        try:
            return register.cosign(4, path, text)
        except Exception as error:
            return type(error).__name__

    with ThreadPoolExecutor(8) as pool:
        asked = [(proof(4, 8), note(8)), (forked, note(8, root=root_of(others)))] * 4
        done = list(pool.map(lambda one: cosign(*one), asked))
    good = {number % 2 for number, one in enumerate(done) if one.startswith("\u2014")}
    assert len(good) == 1, done


def test_proofs_of_consistency_are_judged_as_they_are_made() -> None:
    for new in range(1, 40):
        for old in range(1, new + 1):
            path, roots = proof(old, new), (root_of(LEAVES[:old]), root_of(LEAVES[:new]))
            assert is_consistent(old, roots[0], new, roots[1], path)
            for wrong in ([*path, bytes(32)], path[:-1], [bytes(32), *path[1:]] if path else [bytes(32)]):
                if wrong != path:
                    assert not is_consistent(old, roots[0], new, roots[1], wrong)
            if old < new:
                assert not is_consistent(old, bytes(32), new, roots[1], path)


@pytest.mark.parametrize(
    ("origin", "covered"),
    [(NAME, True), (ORIGIN, True), (f"{NAME}/12", True), (f"{NAME}/0", False), (f"{NAME}x", False),
     (f"{NAME}/1/2", False), (f"{NAME}2/1", False)],
)  # fmt: skip
def test_a_key_covers_the_epochs_of_its_own_log(origin: str, covered: bool) -> None:
    assert LogKey.parse(log_key()).covers(origin) is covered


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "w")
    assert main(["init", folder, "--name", "witness.example/w2"]) == 0
    printed = capsys.readouterr().out
    assert main(["key", folder]) == 0 and capsys.readouterr().out == printed
    assert main(["add", folder, log_key()]) == 0
    assert main(["add", folder, log_key()[:-4] + "AAA="]) == 2
    assert main(["init", folder, "--name", "witness.example/w2"]) == 2
    assert main(["init", f"{folder}2", "--name", "two words"]) == 2
    assert main(["serve", f"{folder}3"]) == 2
    assert (tmp_path / "w" / "key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(Malformed):
        LogKey.parse("x")


def test_a_rotation_takes_the_new_key_from_its_size_on_and_the_old_one_up_to_it(
    client: Client, register: Register
) -> None:
    assert client.add(0, [], note(5))[0] == 200
    assert client.add(5, proof(5, 8), note(8, key=NEW))[0] == 403
    assert client.send(rotation(8).encode(), "/add-rotation")[0] == 200
    assert client.send(rotation(8).encode(), "/add-rotation")[0] == 200, "the same again"
    assert client.add(5, proof(5, 8), note(8, key=NEW))[0] == 403, "not up to its size"
    assert client.add(5, proof(5, 9), note(9))[0] == 403, "the old key not behind it"
    assert client.add(5, proof(5, 8), note(8))[0] == 200
    assert client.add(8, proof(8, 70), note(70, key=NEW))[0] == 200
    other = f"{NAME}/2"
    assert client.add(0, [], note(5, origin=other))[0] == 403, "nor in a later epoch"
    assert client.add(0, [], note(5, origin=other, key=NEW))[0] == 200


def test_a_key_is_rotated_back(client: Client) -> None:
    for text in (rotation(8), rotation(20, NEW, LOG)):
        assert client.send(text.encode(), "/add-rotation")[0] == 200
    for size, key, status in ((9, LOG, 403), (9, NEW, 200), (21, NEW, 403), (21, LOG, 200)):
        at = 9 if size > 9 else 0
        assert client.add(at, proof(at, size) if at else [], note(size, key=key))[0] == status, (size, status)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (rotation(8, signers=(THIEF, NEW)), 400),
        (rotation(8, signers=(LOG, THIEF)), 400),
        (rotation(8, THIEF, NEW), 403),
        (rotation(4), 409),
        (rotation(5, root=bytes(32)), 409),
        (rotation(8).replace(ORIGIN, "cukassza/other/1"), 400),
        (rotation(8)[:-1], 400),
        (note(8), 400),
        ("", 400),
    ],
)
def test_a_rotation_that_is_not_right_changes_nothing(client: Client, text: str, status: int) -> None:
    assert client.add(0, [], note(5))[0] == 200
    assert client.send(text.encode(), "/add-rotation")[0] == status
    assert client.add(5, proof(5, 9), note(9, key=NEW))[0] == 403
    assert client.add(5, proof(5, 9), note(9))[0] == 200


def test_a_key_has_one_successor(client: Client) -> None:
    assert client.send(rotation(8).encode(), "/add-rotation")[0] == 200
    for size in (8, 12):
        assert client.send(rotation(size, LOG, THIEF).encode(), "/add-rotation")[0] == 403


def test_the_operator_rotates_and_removes_keys_by_hand(tmp_path: Path, register: Register) -> None:
    file = tmp_path / "rotation"
    file.write_text(rotation(8))
    assert main(["rotate", str(register.folder), str(file)]) == 0
    with pytest.raises(Refused, match="no key"):
        register.cosign(0, [], note(9))
    register.cosign(0, [], note(9, key=NEW))
    assert main(["remove", str(register.folder), log_key(key=NEW)]) == 0
    assert main(["remove", str(register.folder), log_key(key=NEW)]) == 2
    with pytest.raises(Refused, match="no key"):
        register.cosign(9, proof(9, 20), note(20, key=NEW))
    file.write_text(rotation(30, THIEF, NEW))
    assert main(["rotate", str(register.folder), str(file)]) == 2
