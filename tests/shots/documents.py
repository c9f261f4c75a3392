"""`make shots`: plays an evening, prints it, and makes pictures of the papers with a renderer from a wheel (PDFium).

All of them come to `var/shots`, those of `SHOWN` to `docs/shots` too.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deploy import embedded
from tests.casino.papers import Evening, pictures, printed

if TYPE_CHECKING:
    from tests.casino.kit import Kit

SHOWN = {"buy-in-slip": 1.4, "z-slip-a4": 1.2, "statement-a4": 1.2}
#: Pixels a point, of the pictures that are looked at.
SCALE = 2.2
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def kit(live_db: None) -> Kit:
    """A house with letters of Hungarian in its name."""
    from tests.casino.kit import Kit

    return Kit.found(name="Őrült Űrhajós Kártyaterem")


def test_shots(kit: Kit) -> None:
    from casino.staff.models import Role

    folder = embedded.var_dir() / "shots"
    folder.mkdir(parents=True, exist_ok=True)
    evening = Evening(kit)
    for name, (desk, body) in evening.documents.items():
        for form in ("slip", "a4"):
            _, pdf = printed(kit, desk, "/api/v1/prints/documents", body | {"form": form})
            _keep(folder, f"{name}-{form}", pdf)
    office = kit.office(Role.COMPLIANCE)
    for form in ("slip", "a4"):
        _, pdf = printed(kit, office, "/api/v1/prints/statements", {"player": evening.player, "form": form})
        _keep(folder, f"statement-{form}", pdf)


def _keep(folder: Path, name: str, pdf: bytes) -> None:
    (folder / f"{name}.pdf").write_bytes(pdf)
    for number, one in enumerate(pictures(pdf, scale=SCALE), 1):
        one.save(folder / f"{name}{'' if number == 1 else f'-{number}'}.png")
    if name in SHOWN:
        shown = ROOT / "docs" / "shots" / f"{name}.png"
        shown.parent.mkdir(exist_ok=True)
        pictures(pdf, scale=SHOWN[name])[0].convert("L").quantize(16).save(shown, optimize=True)
