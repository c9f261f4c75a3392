"""Management commands: houses that are not there, exports that the trail records, a house founded at the command
line."""

import io
import json
import os
import pwd
import re
import uuid
from pathlib import Path
from typing import Any

import pyotp
import pytest
from django.core.management import CommandError, call_command

from casino.audit import verifier
from casino.audit.models import Event
from casino.core import seal_key
from casino.core.errors import Forbidden
from casino.houses.models import House
from casino.staff import second_factor
from casino.staff.credentials import Credentials, require_two_minds, two_people
from casino.staff.models import Role, Staff, Terminal
from casino.staff.services import add_person
from casino.verification import auditing
from casino.verification import command_audit as unattended
from ledger import exports
from tests.casino.audit.test_restore import backup, restore
from tests.casino.kit import Desk, Kit
from tests.casino.logs import note
from tests.proof.superuser import held_key, outside_file

PASSWORD = "correct horse battery"
#: What is known of the user who runs these tests.
WHO = f"os:{pwd.getpwuid(os.getuid()).pw_name}@{os.uname().nodename}"


def run(*arguments: str, **options: Any) -> tuple[str, str]:
    """What a command prints, and what it complains of."""
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def events(house: House) -> list[dict[str, Any]]:
    """The payloads of a house, in the order in which they were written."""
    return [json.loads(one.payload) for one in Event.objects.filter(chain__house=house).order_by("id")]


@pytest.mark.parametrize(
    "command",
    [
        ["verify_audit", "{}"],
        ["verify_house", "{}"],
        ["verify_hands", "{}"],
        ["export_audit", "{}", "{folder}"],
        ["open_epoch", "{}", "--reason", "the disk died"],
        ["unlock_login", "{}", "anna", "--reason", "it was her"],
        ["forget_player", "{}", "anna", "--reason", "eight years"],
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize("code", ["NOWHERE", ""])
def test_a_house_that_is_not_there_is_code_2_everywhere(
    live_db: None, command: list[str], code: str, tmp_path: Path
) -> None:
    with pytest.raises(CommandError) as refused:
        run(*(part.format(code, folder=tmp_path / "export") for part in command))
    assert (str(refused.value), refused.value.returncode) == (f"There is no house {code}.", 2)
    assert not (tmp_path / "export").exists()


@pytest.mark.parametrize("command", [["unlock_login", "anna"], ["forget_player", "anna"], ["open_epoch"]])
@pytest.mark.parametrize("reason", ["  x ", "x" * 201])
def test_a_reason_is_neither_empty_nor_a_story(kit: Kit, command: list[str], reason: str) -> None:
    name, *rest = command
    with pytest.raises(CommandError, match="3 to 200 characters") as refused:
        run(name, kit.house.code, *rest, "--reason", reason)
    assert refused.value.returncode == 2


# --- Exports are sensitive reads -------------------------------------------------------------------------------------


def exported(kit: Kit, command: str, folder: Path, *options: str) -> tuple[str, str]:
    """Run one of the two."""
    if command == "export_audit":
        return run(command, kit.house.code, str(folder), *options)
    return run(command, str(kit.house.id), "--format", "jsonl", *options)


@pytest.mark.parametrize("options", [[], ["--unrecorded"]], ids=["", "unrecorded, where it need not be"])
@pytest.mark.parametrize("command", ["export_audit", "export_ledger"])
def test_an_export_is_recorded_before_anything_is_given(
    kit: Kit, command: str, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "export"
    kit.sequence()
    monkeypatch.setattr("time.sleep", lambda _: kit.sequence())
    before = len(events(kit.house))
    out, err = exported(kit, command, folder, *options)
    *_, recorded = events(kit.house)
    assert len(events(kit.house)) == before + 1 and err == ""
    assert (recorded["kind"], recorded["chain"], recorded["request"]) == ("data.read", kit.house.chain, command)
    assert (recorded["actor"], recorded["role"], recorded["terminal"]) == ("operator", "system", WHO)
    parameters = [["folder", str(folder)]] if command == "export_audit" else [["format", "jsonl"]]
    assert recorded["data"] == {"operation": command, "subject": kit.house.code, "parameters": parameters}
    if command == "export_audit":
        held = [verifier.read_notes(outside_file(kit), "the newest checkpoints", held=True)]
        assert verifier.verify_export(folder, held, verifier.read_keys(str(held_key(kit)))).findings == []
        *_, line = (folder / "events-1.jsonl").read_text().splitlines()
        assert recorded == json.loads(line), "the export records of itself"
    else:
        assert out == "".join(exports.jsonl_transactions(kit.house.id))


@pytest.mark.parametrize("command", ["export_audit", "export_ledger"])
def test_a_house_that_may_not_write_is_exported_when_somebody_says_so(kit: Kit, command: str, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    kit.sequence()
    rows = backup(kit)
    note(kit, "house", 1)
    kit.sequence()
    restore(kit, rows)
    before = len(events(kit.house))
    with pytest.raises(CommandError, match=r"\[log_rolled_back\].*--unrecorded"):
        exported(kit, command, folder)
    assert not folder.exists()
    out, err = exported(kit, command, folder, "--unrecorded")
    assert "NOT RECORDED" in err and kit.house.code in err
    assert out and len(events(kit.house)) == before
    if command == "export_audit":
        assert len((folder / "events-1.jsonl").read_text().splitlines()) == before


def test_an_export_that_cannot_be_written_is_not_recorded(kit: Kit, tmp_path: Path) -> None:
    (tmp_path / "something").touch()
    before = len(events(kit.house))
    with pytest.raises(CommandError, match="is not empty"):
        run("export_audit", kit.house.code, str(tmp_path))
    assert len(events(kit.house)) == before


def test_the_ledger_of_a_house_is_exported_by_its_code_too(kit: Kit) -> None:
    by_code, by_id = (run("export_ledger", name, "--format", "csv")[0] for name in (kit.house.code, str(kit.house.id)))
    assert by_code and by_code == by_id


def test_an_export_does_not_wait_for_ever(kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unattended, "PATIENCE", 0.2)
    _, err = run("export_audit", kit.house.code, str(tmp_path / "export"))
    assert "Does the sequencer run?" in err
    report = verifier.verify_export(tmp_path / "export")
    assert (report.findings, report.counts["leaves"]) == ([], 0), "the log was never begun"


def test_the_book_of_no_house_is_left_to_the_ledger(live_db: None) -> None:
    for book in (str(uuid.uuid4()), "no book"):
        with pytest.raises(CommandError) as refused:
            run("export_ledger", book, "--format", "csv")
        assert refused.value.returncode == 3


# --- Founding --------------------------------------------------------------------------------------------------------


def found(monkeypatch: pytest.MonkeyPatch, code: str, password: str = PASSWORD, **options: str | list[str]) -> str:
    """Found a house; what the command prints."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n{password}\n{password}\n"))
    given = {"name": "Golden Ace", "currency": "HUF", "admin": [f"eva@{code}"], "auditor": f"ida@{code}"} | options
    admins: list[str] = given.pop("admin")  # type: ignore[assignment]
    return run("found_house", code, *(f"--admin={login}" for login in admins), **given)[0]


def test_a_sandbox_is_one_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = [f"G{uuid.uuid4().hex[:8]}" for _ in range(2)]
    found(monkeypatch, codes[0])
    found(monkeypatch, codes[1], sandbox=True)
    stages = {code: (House.objects.get(code=code).stage, House.objects.get(code=code).is_sandbox) for code in codes}
    assert stages == {codes[0]: ("founding", False), codes[1]: ("sandbox", True)}
    [first, *_] = events(House.objects.get(code=codes[1]))
    assert first["data"]["sandbox"] is True


def test_a_founded_house_is_run_by_its_two_people(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"G{uuid.uuid4().hex[:8]}"
    printed = found(monkeypatch, code)
    house = House.objects.get(code=code)
    recorded = events(house)
    assert [each["kind"] for each in recorded] == ["house.founded", "staff.hired", "staff.hired", "terminal.enrolled"]
    by = {(each["actor"], each["terminal"], each["request"]) for each in recorded}
    assert by == {("operator", WHO, "found_house")}
    assert recorded[0]["data"] == {
        "currency": "HUF", "name": "Golden Ace", "seal_key": seal_key.configured().id,
        "second_factor_required": True, "time_zone": "UTC",
    }  # fmt: skip
    people = [(f"eva@{code}", Role.ADMIN), (f"ida@{code}", Role.AUDITOR)]
    hired = [{name: each["data"][name] for name in ("login", "roles")} for each in recorded[1:3]]
    assert hired == [{"login": login, "roles": [role]} for login, role in people]
    key = printed.split()[-1]
    assert PASSWORD not in printed and key not in json.dumps(recorded)

    offices, secrets, step = {}, {}, second_factor.current_step()
    for login, _ in people:
        form = {"login": login, "password": PASSWORD, "terminal": "office-1", "terminal_key": key}
        signed_in = kit.http(None).post("/api/v1/sign-in", json=form)
        assert signed_in.is_success, signed_in.text
        office = offices[login] = Desk(kit.http(signed_in.json()["token"]), "/api/v1")
        # Neither does anything before a second factor is set up.
        assert office.get("house").json()["code"] == "second_factor_required"
        secrets[login] = pyotp.TOTP(office.ok("second-factor", {"password": PASSWORD})["secret"])
        monkeypatch.setattr(second_factor, "current_step", lambda: step)
        office.ok("second-factor/confirm", {"code": secrets[login].generate_otp(step)})
    # In the next half minute: the codes of the one before are used.
    monkeypatch.setattr(second_factor, "current_step", lambda: step + 1)
    signers = [Credentials(login, PASSWORD, secrets[login].generate_otp(step + 1)) for login, _ in people]
    assert two_people(
        house=house, first=signers[0], second=signers[1], roles=[Role.ADMIN, Role.AUDITOR], one_of_them=[Role.AUDITOR]
    )
    office = offices[f"eva@{code}"]
    office.ok("staff", {"login": f"dan@{code}", "name": "Dan", "roles": ["dealer"], "password": "long enough 4 dan"})
    assert Staff.objects.get(login=f"dan@{code}").roles == [Role.DEALER]
    assert auditing.verify_house(house).findings == []


def test_two_administrators_of_the_founding_hire_people_who_are_independent(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"G{uuid.uuid4().hex[:8]}"
    found(monkeypatch, code, admin=[f"eva@{code}", f"ben@{code}"])
    house = House.objects.get(code=code)
    eva, ben = (Staff.objects.get(house=house, login=f"{name}@{code}") for name in ("eva", "ben"))

    def hired(by: Staff, name: str, role: Role) -> Staff:
        login = f"{name}@{code}"
        person, _ = add_person(house=house, login=login, name=name, roles=[role], password=PASSWORD, giver=by)
        person.must_change_password = False
        return person

    asks, decides = hired(eva, "asks", Role.CASHIER), hired(ben, "decides", Role.MANAGER)
    require_two_minds(asks, decides)
    with pytest.raises(Forbidden, match="eva"):
        require_two_minds(asks, hired(hired(eva, "deputy", Role.ADMIN), "another", Role.MANAGER))


@pytest.mark.parametrize(
    ("options", "problem", "returncode"),
    [
        ({"password": "short"}, "too short", 1),
        ({"password": ""}, "too short", 1),
        ({"code": "taken"}, "already exists", 1),
        ({"code": "a/b"}, r"\(code\)", 2),
        ({"currency": "forint"}, r"\(currency\)", 2),
        ({"admin": ["eva@house", "é"]}, r"\(admin\)", 2),
        ({"auditor": "é"}, r"\(auditor\)", 2),
        ({"admin": ["Eva@house"], "auditor": "eva@house"}, "two people", 2),
        ({"admin": ["eva@house", "Eva@house"]}, "two people", 2),
        ({"terminal": ""}, r"\(terminal\)", 2),
    ],
)
def test_what_does_not_fit_founds_nothing(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], problem: str, returncode: int
) -> None:
    given = {name: kit.house.code if value == "taken" else value for name, value in options.items()}
    before = House.objects.count(), Staff.objects.count(), Terminal.objects.count()
    with pytest.raises(CommandError) as refused:
        found(monkeypatch, given.pop("code", f"G{uuid.uuid4().hex[:8]}"), **given)
    assert re.search(problem, str(refused.value)) and refused.value.returncode == returncode
    assert (House.objects.count(), Staff.objects.count(), Terminal.objects.count()) == before


class Keyboard(io.StringIO):
    """A terminal's standard input."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def test_at_a_keyboard_the_password_is_typed_twice(live_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"G{uuid.uuid4().hex[:8]}"
    given = {"name": "Golden Ace", "currency": "HUF", "admin": [f"eva@{code}"], "auditor": f"ida@{code}"}
    monkeypatch.setattr("sys.stdin", Keyboard())
    others = f"{PASSWORD} of another"
    typed = iter([PASSWORD, "another one", PASSWORD, PASSWORD, others, others])
    monkeypatch.setattr("getpass.getpass", lambda _prompt: next(typed))
    with pytest.raises(CommandError, match="not the same") as refused:
        run("found_house", code, **given)
    assert refused.value.returncode == 2 and not House.objects.filter(code=code).exists()
    run("found_house", code, **given)
    assert Staff.objects.get(login=f"eva@{code}").check_password(PASSWORD)
    assert Staff.objects.get(login=f"ida@{code}").check_password(others)
