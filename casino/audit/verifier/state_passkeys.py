"""Passkeys of people, rebuilt from the events of the house's chain: who registered which, and with which somebody
signed in or decided."""

from .state_approvals import Approvals
from .state_approvers import CODED
from .state_columns import HOUSE, ID, Model, hashed, proved, transient
from .state_people import STAFF, has_second_factor
from .state_rows import Handler, Near, Row, Rows

PASSKEY = "staff.Passkey"
#: Passkeys that one person may have.
MOST = 10

MODELS = (
    Model(
        PASSKEY,
        "SHA-256 of credential_id",
        {
            "id": ID,
            "house": HOUSE,
            "staff": proved("staff.passkey_registered"),
            "credential_id": hashed("staff.passkey_registered"),
            "public_key": hashed("staff.passkey_registered"),
            "registered_at": proved("staff.passkey_registered"),
            "clone_seen_at": proved("staff.passkey_clone_seen"),
            "name": transient("what its person calls it, which no event has"),
            "sign_count": transient("counts signatures, of which no event has each; going back is an event of its own"),
            "last_used_at": transient("a convenience; sign-ins and decisions name the passkey"),
        },
    ),
    Model(
        "staff.PasskeyChallenge",
        "SHA-256 of the challenge",
        {
            name: transient("counts once, for two minutes; what was signed with it is an event of its own")
            for name in ("house", "digest", "terminal", "bound_to", "expires_at")
        },
    ),
)


class Passkeys:
    """Rows of passkeys, and what is shown with them."""

    def __init__(self, rows: Rows, approvals: Approvals) -> None:
        self._rows, self._approvals = rows, approvals
        self.handlers: dict[str, Handler] = {
            "staff.passkey_registered": self._registered,
            "staff.passkey_removed": self._removed,
            "staff.second_factor_reset": self._reset,
            **dict.fromkeys(
                ("staff.signed_in", "staff.reauthenticated", "approval.approved", "approval.refused"), self._shown
            ),
            "staff.passkey_clone_seen": self._clone_seen,
        }

    def _registered(self, doc: Row) -> None:
        data, login = doc["data"], doc["actor"]
        self._count(login, 1)
        if self._rows.get(STAFF, login)["passkey_count"] > MOST:
            self._find(doc, f"{login} has more than {MOST}")
        self._rows.add(
            PASSKEY, data["passkey_sha256"], staff=login, credential_id=data["passkey_sha256"],
            public_key=data["public_key_sha256"], registered_at=Near(doc["at"]), clone_seen_at=None,
        )  # fmt: skip

    def _removed(self, doc: Row) -> None:
        self._shown(doc)
        login = doc["actor"]
        self._rows.remove(PASSKEY, doc["data"]["passkey_sha256"])
        self._count(login, -1)
        row = self._rows.get(STAFF, login)
        if has_second_factor(row) or not CODED & set(row["roles"]):
            return
        if self._approvals.asks_for_second_factor(doc["at"]):
            self._find(doc, f"{login} removes the last second factor, and needs one")

    def _reset(self, doc: Row) -> None:
        """All passkeys of a person end; the count in the person's row with them."""
        login = doc["data"]["login"]
        for key in [key for key, row in self._rows.of(PASSKEY).items() if row["staff"] == login]:
            self._rows.remove(PASSKEY, key)

    def _shown(self, doc: Row) -> None:
        """Who shows a passkey has it; a decision with one was made with a second factor."""
        key = doc["data"].get("passkey_sha256")
        if key is None:
            return
        row = self._rows.seek(PASSKEY, key)
        if row is None or row["staff"] != doc["actor"]:
            self._find(doc, f"{doc['actor']} has no passkey {key}")
        if doc["kind"].startswith("approval.") and not doc["data"].get("second_factor"):
            self._find(doc, "a passkey was shown, and it says that there was no second factor")

    def _clone_seen(self, doc: Row) -> None:
        self._shown(doc)
        data = doc["data"]
        if (row := self._rows.seek(PASSKEY, data["passkey_sha256"])) is not None:
            row["clone_seen_at"] = Near(doc["at"])
        if data["given_count"] > data["stored_count"]:
            self._find(doc, f"it counts on from {data['stored_count']} to {data['given_count']}")

    def _count(self, login: str, change: int) -> None:
        row = self._rows.get(STAFF, login)
        row.update(passkey_count=row["passkey_count"] + change, version=row["version"] + 1)

    def _find(self, doc: Row, problem: str) -> None:
        self._rows.find("passkey_differs", f"{doc['chain']}#{doc['seq']}", problem)
