"""Paper: receipts, statements and slips as they are printed, counted, proved and read."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casino.audit.events.prints import DocumentPrinted
from casino.audit.events.reports import ReportRequested
from casino.audit.verifier import command, report_classes
from casino.audit.verifier import printed as printed_form
from casino.days import packages
from casino.reports import package
from casino.reports.frame import registry
from casino.reports.printing import proofs
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.days.test_days import FIRST, events
from tests.casino.days.test_packages import closed
from tests.casino.devices import device
from tests.casino.kit import Desk, Kit
from tests.casino.papers import Evening, codes, is_of_proof, printed, words
from tests.casino.reports.test_catalogue_of_control import forged
from tests.casino.transfers.test_transfers import refusal

PRINT, STATEMENT = "/api/v1/prints/documents", "/api/v1/prints/statements"


def bought(kit: Kit) -> tuple[Desk, dict[str, Any]]:
    """A buy-in at the cage: the cashier, and the receipt of it."""
    kit.players("Anna_1")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=50_000, pieces={"500": 40, "100": 50})
    receipt: dict[str, Any] = cashier.ok("buy-ins", {"player": "Anna_1", "amount": 3_000})["audit"]
    return cashier, receipt


def event(receipt: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The body that prints an event."""
    return {"chain": receipt["chain"], "seq": receipt["seq"], **more}


@pytest.mark.parametrize("form", ["slip", "a4"])
def test_a_receipt_proves_itself_by_code_by_lines_and_by_page(
    kit: Kit, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cashier, receipt = bought(kit)
    answer, pdf = printed(kit, cashier, PRINT, event(receipt, form=form))
    assert (answer["copy"], answer["form"], answer["about"]["player"]) == (1, form, "Anna_1")
    text = words(pdf)
    assert "Buy-in" in text and "Anna_1" in text and "3 000" in text and receipt["hash"] in text.replace("\r\n", "")
    assert "original" in text and "COPY" not in text
    address, proof = sorted(codes(pdf), reverse=True)
    assert address == f"http://localhost/console/verify/{receipt['hash']}"
    key = cashier.get("/api/v1/audit/key").text.strip()
    file = tmp_path / "receipt"
    for paper in (proof, "\n".join(line for line in text.splitlines() if is_of_proof(line))):
        file.write_text(paper)
        assert command.main(["receipt", str(file), "--key", key, "--hash", receipt["hash"]]) == 0
        assert f"proved: the event of hash {receipt['hash']}" in capsys.readouterr().out


def test_every_printing_is_one_more_copy_over_forms_people_and_both_ends(kit: Kit) -> None:
    cashier, receipt = bought(kit)
    supervisor = kit.supervisor()
    copies = [
        desk.ok(PRINT, event(receipt, form=form))["copy"]
        for desk, form in ((cashier, "slip"), (cashier, "a4"), (supervisor, "slip"))
    ]
    assert copies == [1, 2, 3]
    same = cashier.post(PRINT, event(receipt), key="twice"), cashier.post(PRINT, event(receipt), key="twice")
    assert [answer.json()["copy"] for answer in same] == [4, 4]
    kit.sequence()
    third = words(supervisor.get("/api/v1/prints/3/file").content)
    assert "COPY 3" in third and "no. 3, copy 3" in third
    listed = kit.office(Role.AUDITOR).get("prints").json()["results"]
    assert sorted((one["printout"], one["copy"]) for one in listed) == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert verification(kit.house)["ok"]


def test_papers_of_an_evening_have_copies_codes_and_proofs(
    kit: Kit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evening = Evening(kit)
    kit.sequence()
    key = evening.cashier.get("/api/v1/audit/key").text.strip()
    for name, (desk, body) in evening.documents.items():
        papers = {form: printed(kit, desk, PRINT, body | {"form": form}) for form in ("slip", "a4")}
        assert [answer["copy"] for answer, _ in papers.values()] == [1, 2], name
        found = {form: codes(pdf) for form, (_, pdf) in papers.items()}
        assert sorted(found["slip"]) == sorted(found["a4"]) and len(found["slip"]) == 2, name
        (tmp_path / "receipt").write_text(min(found["slip"]))
        assert command.main(["receipt", str(tmp_path / "receipt"), "--key", key]) == 0, name
        capsys.readouterr()
        assert ("COPY" in words(papers["slip"][1]), "COPY 2" in words(papers["a4"][1])) == (False, True), name
    _looked_at(kit, evening)
    assert verification(kit.house)["ok"]


def _looked_at(kit: Kit, evening: Evening) -> None:
    """What stands on the papers is what was recorded, and nothing that must still be counted."""
    office = kit.office(Role.AUDITOR)
    said = {
        name: words(office.get(f"prints/{2 * number + 1}/file").content)
        for number, name in enumerate(evening.documents)
    }  # fmt: skip
    assert "12 500" in said["buy-in"] and "T1-u1" in said["hand"] and "1 635" in said["hand"]
    assert "to be counted" in said["fill-sent"] and "Denomination" not in said["fill-sent"]
    assert "3 200" in said["fill-received"] and "tax-1" in said["soft-count"] and "-5" in said["soft-count"]
    assert "1 179 890" in said["z-slip"] and "1 179 900" in said["x-reading"]


def test_a_statement_says_what_came_went_and_is_left_and_is_a_copy_until_something_moves(kit: Kit) -> None:
    cashier, _ = bought(kit)
    cashier.ok("cash-outs", {"player": "Anna_1", "amount": 1_000})
    first, pdf = printed(kit, cashier, STATEMENT, {"player": "Anna_1", "form": "a4"})
    text = words(pdf)
    assert all(part in text for part in ("Buy-in", "Cash-out", "3 000", "2 000", "holds", "original"))
    assert "DIFFERS" not in text
    [recorded] = events(kit, "document.printed")
    assert recorded["data"]["sums"] == {"opening": 0, "came": 3_000, "went": 1_000, "closing": 2_000}
    address = max(codes(pdf))
    assert cashier.get(f"/api/v1/receipts/{address.rpartition('/')[2]}").status_code == 200
    again, pdf = printed(kit, kit.office(Role.COMPLIANCE), STATEMENT, {"player": "Anna_1"})
    assert (again["copy"], again["document"]) == (2, first["document"]) and "COPY 2" in words(pdf)
    cashier.refresh()
    cashier.ok("cash-outs", {"player": "Anna_1", "amount": 500})
    later = cashier.ok(STATEMENT, {"player": "Anna_1"})
    assert later["copy"] == 1 and later["document"] != first["document"]
    # What protects the player is said on it, and makes it another document.
    cashier.ok("/api/v1/players/Anna_1/limits", {"limit": "loss", "span": "week", "most": 45_600})
    cashier.refresh()
    protected, pdf = printed(kit, cashier, STATEMENT, {"player": "Anna_1"})
    assert (protected["copy"], protected["document"].startswith(later["document"])) == (1, True)
    assert "45 600" in words(pdf) and "week" in words(pdf)
    assert cashier.ok(STATEMENT, {"player": "Anna_1"})["copy"] == 2
    assert verification(kit.house)["ok"]


def test_who_may_not_print_and_what_has_no_paper(kit: Kit) -> None:
    cashier, receipt = bought(kit)
    kit.office(Role.ADMIN).ok("drawers", {"drawer": "C2"})
    other = kit.cashier("C2")
    assert refusal(other.post(PRINT, event(receipt))) == (403, "wrong_terminal")
    assert refusal(kit.office(Role.COUNT).post(PRINT, event(receipt))) == (403, "forbidden")
    assert refusal(cashier.post(PRINT, event(receipt, player="bela"))) == (422, "player_of_hand")
    assert refusal(cashier.post(PRINT, {"chain": "drawer/C1", "seq": 9_999})) == (404, "not_found")
    opened = {"chain": "drawer/C1", "seq": receipt["seq"] - 1}
    assert refusal(cashier.post(PRINT, opened)) == (409, "no_paper")
    assert refusal(cashier.post(STATEMENT, {"player": "nobody"})) == (404, "not_found")
    reversed_days = {"first_day": "2024-02-01", "last_day": "2024-01-01"}
    assert refusal(cashier.post(STATEMENT, {"player": "Anna_1"} | reversed_days)) == (422, "report_filter")
    number = cashier.ok(PRINT, event(receipt))["printout"]
    assert refusal(cashier.get(f"/api/v1/prints/{number}/file")) == (409, "not_in_the_log_yet")
    kit.sequence()
    assert refusal(other.get(f"/api/v1/prints/{number}/file")) == (403, "wrong_terminal")
    assert refusal(cashier.get("/api/v1/prints/7/file")) == (404, "not_found")


def test_a_player_prints_at_the_seat_what_is_the_players_own(kit: Kit) -> None:
    dealer = kit.worked_hand()
    own, other = device(kit, dealer, 1), device(kit, dealer, 2)
    wanted = {"hand": "T1-000001", "form": "slip"}
    assert refusal(own.http.post("/api/v1/seat/prints", json=wanted)) == (404, "not_found")
    assert kit.settle() == ["settled"]
    made = own.http.post("/api/v1/seat/prints", json=wanted)
    assert (made.status_code, made.json()["copy"], made.json()["printed_by"]) == (201, 1, "T1-u1")
    statement = own.http.post("/api/v1/seat/prints", json={"form": "a4"}).json()
    kit.sequence()
    for number in (made.json()["printout"], statement["printout"]):
        text = words(own.get(f"prints/{number}/file").content)
        assert "T1-u1" in text and "T1-u2" not in text and "1 635" in text
        assert refusal(other.get(f"prints/{number}/file")) == (404, "not_found")
    # What the house prints of it is the next copy.
    place = {name: statement["audit"][name] for name in ("chain", "seq")}
    assert place["chain"] == f"house/{kit.house.code}"
    dealer.refresh()
    settled = {"chain": "table/T1", "seq": int(made.json()["about"]["seq"]), "player": "T1-u1"}
    assert dealer.ok(PRINT, settled)["copy"] == 2
    assert dealer.ok(PRINT, settled | {"player": "T1-u2"})["copy"] == 1
    assert refusal(dealer.post(PRINT, {**settled, "player": None})) == (422, "player_of_hand")
    assert verification(kit.house)["ok"]


def test_a_copy_that_is_called_the_original_is_found(kit: Kit) -> None:
    cashier, receipt = bought(kit)
    cashier.ok(PRINT, event(receipt))
    about = {"chain": "drawer/C1", "seq": str(receipt["seq"]), "player": "Anna_1"}
    for number, document in ((2, f"drawer/C1#{receipt['seq']}"), (3, "another name")):
        forged(
            kit,
            kit.house.chain,
            DocumentPrinted(
                printout=number,
                document=document,
                copy=1,
                form="a4",
                language="en",
                about=about,
            ),
        )
    found = [one for one in verify_house(kit.house).findings if one.code == "print_differs"]
    assert ["is called copy 1" in found[0].problem, "was printed as" in found[1].problem] == [True, True]


def test_a_line_that_was_typed_wrong_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = proofs.lines_of(proofs.encoded(zlib.compress(b'{"format":"cukassza/receipt/1"}' * 9, 0)))
    file = tmp_path / "typed"
    for at, line in enumerate(lines):
        wrong = line.replace(line[5], "Z" if line[5] != "Z" else "Y", 1)
        file.write_text("\n".join([*lines[:at], wrong, *lines[at + 1 :]]).lower())
        assert command.main(["receipt", str(file), "--key", "x"]) == 2
        assert f"line {at + 1} " in capsys.readouterr().err
    file.write_text("\n".join(lines[1:]))
    assert command.main(["receipt", str(file), "--key", "x"]) == 2
    assert "line 1 of the printed receipt" in capsys.readouterr().err


@given(st.binary(max_size=600))
def test_what_is_printed_is_read_again(content: bytes) -> None:
    data = proofs.encoded(zlib.compress(content))
    text = content.decode("latin-1")
    expected = text.encode("latin-1")
    assert _packed(data) == zlib.compress(content) and expected == content
    if content.isascii():
        mistaken = {"0": "O", "1": "l"}
        typed = "\n".join("".join(mistaken.get(one, one) for one in line) for line in proofs.lines_of(data))
        assert printed_form.unprinted(typed) == printed_form.unprinted(proofs.PREFIX + data) == content.decode()


def _packed(data: str) -> bytes:
    """Base 32 as one number, another way than either side does it."""
    bits = "".join(f"{'0123456789ABCDEFGHJKMNPQRSTVWXYZ'.index(one):05b}" for one in data)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))


def test_the_verifier_knows_the_class_of_every_report(kit: Kit) -> None:
    assert {one.id: str(one.sensitivity) for one in registry.reports().values()} == report_classes.CLASSES
    read = {one.id: frozenset(map(str, one.roles)) for one in registry.reports().values()}
    assert read | {"package": frozenset(map(str, packages.READERS))} == report_classes.READERS
    office = kit.office(Role.AUDITOR)
    run = office.ok("reports/drawer-history/runs", {"formats": ["pdf", "json"]})
    assert (run["sensitivity"], run["copy"]) == ("P2", 1)
    [asked] = events(kit, "report.requested")
    forged(kit, kit.house.chain, ReportRequested(**(asked["data"] | {"run": 2, "sensitivity": "P0"})))
    found = [one.problem for one in verify_house(kit.house).findings if one.code == "report_differs"]
    assert any("is of class P2, and is said to be P0" in problem for problem in found)


def test_a_run_that_repeats_a_moment_is_a_copy(kit: Kit) -> None:
    office = kit.office(Role.AUDITOR)
    paper: dict[str, Any] = {"formats": ["pdf"]}
    copies = [office.ok("reports/chips/runs", paper)["copy"]]
    assert kit.make_reports() == ["made"]
    for more in ({}, {"formats": ["json"]}, {"repeats": 2}, {"group_by": "kind"}, {"repeats": None}):
        copies.append(office.ok("reports/chips/runs", paper | {"repeats": 1} | more)["copy"])
        assert kit.make_reports() == ["made"]
    assert copies == [1, 2, 0, 3, 1, 1]
    text = words(office.get("report-runs/2/files/chips.pdf").content)
    assert "COPY 2" in text and "class P0" in text
    kit.sequence()
    assert verify_house(kit.house).findings == []


def test_a_package_whose_manifest_names_another_class_is_refused(
    kit: Kit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    office = closed(kit)
    [digest] = kit.package()
    content = office.get(f"days/{FIRST}/package").content
    assert _judged(content, tmp_path, capsys, digest) == (0, "")
    assert _judged(content, tmp_path, capsys, "0" * 64)[0] == 1

    def changed(change: Any) -> bytes:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(files["manifest.json"])
        change(manifest, files)
        return package.packed(files | {"manifest.json": json.dumps(manifest).encode()})

    def report(manifest: Any, name: str) -> Any:
        return next(one for one in manifest["reports"] if one["report"] == name)

    cases: dict[str, Any] = {
        "class_differs": lambda manifest, _: report(manifest, "overrides").update(sensitivity="P0"),
        "report_unknown": lambda manifest, _: report(manifest, "overrides").update(report="none"),
        "file_differs": lambda _, files: files.update({"hands.json": b"[]"}),
        "file_missing": lambda _, files: files.pop("hands.json"),
        "file_unknown": lambda _, files: files.update({"more.json": b"[]"}),
    }  # fmt: skip
    for code, change in cases.items():
        assert _judged(changed(change), tmp_path, capsys) == (1, code), code
    assert _judged(b"no zip", tmp_path, capsys)[0] == 2
    assert _judged(changed(lambda manifest, _: manifest.pop("files")), tmp_path, capsys)[0] == 2


def _judged(content: bytes, folder: Path, capsys: pytest.CaptureFixture[str], sha256: str = "") -> tuple[int, str]:
    """Exit code of the command, and the code of the first thing that is wrong."""
    file = folder / "package.zip"
    file.write_bytes(content)
    code = command.main(["package", str(file), *(["--sha256", sha256] if sha256 else [])])
    said = capsys.readouterr()
    return code, said.out.partition(":")[0] if code == 1 else ""
