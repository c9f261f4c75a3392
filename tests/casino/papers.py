"""Papers in tests: printed over HTTP, and read as people and machines read them."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import pypdfium2
import zxingcpp

if TYPE_CHECKING:
    from PIL.Image import Image

    from tests.casino.kit import Desk, Kit


def pictures(pdf: bytes, *, scale: float = 3.0) -> list[Image]:
    """Every page of a PDF, as so many pixels a point."""
    opened = pypdfium2.PdfDocument(BytesIO(pdf))
    try:
        return [page.render(scale=scale).to_pil().convert("RGB") for page in opened]
    finally:
        opened.close()


def words(pdf: bytes) -> str:
    """The text of a PDF as a reader finds it, every page."""
    opened = pypdfium2.PdfDocument(BytesIO(pdf))
    try:
        return "\n".join(page.get_textpage().get_text_range() for page in opened)
    finally:
        opened.close()


def codes(pdf: bytes) -> list[str]:
    """What the QR codes of a PDF say, as a camera reads them."""
    found = [zxingcpp.read_barcodes(one, formats=zxingcpp.BarcodeFormat.QRCode) for one in pictures(pdf)]
    return [code.text for page in found for code in page]


def is_of_proof(line: str) -> bool:
    """Whether a line of a paper is one of its proof: a number of two digits, groups, two characters."""
    parts = line.split()
    return len(parts) > 2 and len(parts[0]) == len(parts[-1]) == 2 and parts[0].isdecimal() and line == line.upper()


def printed(kit: Kit, desk: Desk, path: str, body: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Print over HTTP, and read the file once the log has its event."""
    answer = desk.ok(path, body)
    kit.sequence()
    file = desk.get(f"/api/v1/prints/{answer['printout']}/file")
    assert (file.status_code, file.headers["Content-Type"]) == (200, "application/pdf"), file.text
    return answer, file.content


class Evening:
    """An evening after which there is something of every kind to print. `documents`: who prints what, by name."""

    DAY = "2024-05-01"

    def __init__(self, kit: Kit) -> None:
        from casino.audit import selectors as audit
        from casino.staff.models import Role
        from tests.casino.cage.test_deposits import PERSON
        from tests.casino.transfers.test_soft_counts import Boxes
        from tests.casino.transfers.test_transfers import FILL

        self.kit = kit
        kit.office(Role.MANAGER).ok("days", {"day": self.DAY})
        boxes = Boxes(kit)
        self.dealer, self.cashier, self.supervisor = boxes.dealer, kit.cashier(), boxes.supervisor
        self.manager = kit.office(Role.MANAGER)
        settled = audit.of_event(kit.house, "table/T1", "hand.settled", hand="T1-000001")
        self.cashier.refresh()
        bought = self.cashier.ok("buy-ins", {"player": "T1-u1", "amount": 12_500})
        person = {"person": PERSON, "reason": "first_record"}
        kit.office(Role.COMPLIANCE).ok("players/T1-u1/person", person, version=1)
        left = self.cashier.ok("deposits", {"player": "T1-u1", "amount": 50_000})
        paid = self.cashier.ok("cash-outs", {"player": "T1-u1", "amount": 2_600})
        read = kit.office(Role.CAGE_SUPERVISOR).ok("drawers/C1/x-readings", {})
        sent = self.cashier.ok("fills", {"table": "T1", "pieces": FILL})
        serial = sent["last_event"]["transfer"]["serial"]
        self.dealer.refresh()
        received = self.dealer.ok(f"fills/{serial}/receive", {"pieces": FILL, "carrier": kit.runner()})
        box = boxes.brought("tax")
        for desk in (boxes.one, boxes.other):
            assert boxes.count(desk, box, 0, {"100": 1, "25": 2, "5": 2}).status_code == 201
        counted = self.supervisor.ok(f"boxes/{box}/receive")
        closed = kit.close_drawer(self.cashier, cash=kit.held()["cash"] - 10)
        self.player = "T1-u1"
        of_hand = {"chain": settled.chain, "seq": settled.seq, "player": self.player}
        self.documents: dict[str, tuple[Desk, dict[str, Any]]] = {
            "buy-in": (self.cashier, _place(bought)), "deposit": (self.cashier, _place(left)),
            "cash-out": (self.cashier, _place(paid)), "hand": (self.dealer, of_hand),
            "x-reading": (self.supervisor, _place(read)), "fill-sent": (self.cashier, _place(sent)),
            "fill-received": (self.dealer, _place(received)), "soft-count": (self.supervisor, _place(counted)),
            "z-slip": (self.supervisor, _place(closed)),
        }  # fmt: skip


def _place(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: answer["audit"][name] for name in ("chain", "seq")}
