"""Webhooks: who has subscribed which destination to what, and that nothing happens to one that has ended."""

from .state_columns import HOUSE, ID, Model, proved, transient
from .state_people import STAFF
from .state_rows import Handler, Near, Row, Rows

WEBHOOK, POSITION = "live.Webhook", "live.WebhookPosition"
_SUBSCRIBED, _ENDED = proved("webhook.subscribed"), proved("webhook.ended")
_MOVES = transient("how far the receiver has come: it moves without an event, and back with `webhook.replayed`")
#: Why the house itself ends one.
_PROBLEMS = ("receiver_gone", "subscriber_left", "subscriber_may_not_follow")
#: Who follows the house.
_FOLLOW = frozenset(("floor", "manager", "surveillance", "auditor", "admin", "cage_supervisor"))
MODELS = (
    Model(
        WEBHOOK,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "destination", "chains", "subscribed_at", "subscribed_by", "approval"), _SUBSCRIBED
            ),
            **dict.fromkeys(("ended_at", "problem"), _ENDED),
        },
    ),
    Model(
        POSITION,
        "webhook/chain",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("webhook", "chain", "position", "until", "attempts", "problem", "failing_since", "sent_at", "next_at"),
                _MOVES,
            ),
            "worked_until": transient("until when a process has the chain for itself"),
        },
    ),
)


class Webhooks:
    """Rows of webhooks."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.handlers: dict[str, Handler] = {
            "webhook.subscribed": self._subscribed,
            "webhook.replayed": self._replayed,
            "webhook.ended": self._ended,
        }

    def _subscribed(self, doc: Row) -> None:
        """Numbers have no gaps, and who subscribes is an administrator."""
        data, number = doc["data"], doc["data"]["webhook"]
        if number != 1 and self._rows.seek(WEBHOOK, str(number - 1)) is None:
            self._find(doc, f"webhook {number} follows none")
        if doc["role"] != "admin":
            self._find(doc, f"webhook {number} was subscribed by {doc['actor']} as {doc['role']}")
        self._rows.add(
            WEBHOOK, str(number), number=number, destination=data["destination"], chains=data["chains"],
            subscribed_at=Near(doc["at"]), subscribed_by=doc["actor"], approval=data.get("approval"), ended_at=None,
            problem="",
        )  # fmt: skip

    def _replayed(self, doc: Row) -> None:
        """Sent again is what was sent: of a chain of its own, and no more than was taken."""
        data, row = doc["data"], self._going(doc)
        if data["chain"] not in row["chains"] and f"{data['chain'].partition('/')[0]}/*" not in row["chains"]:
            self._find(doc, f"webhook {data['webhook']} sends nothing of {data['chain']}")
        if not 0 <= data["after"] <= data["position"]:
            self._find(doc, f"{data['chain']} is sent again after {data['after']}, and had come to {data['position']}")

    def _ended(self, doc: Row) -> None:
        """The house ends one for a reason that holds; a person says why."""
        data, row = doc["data"], self._going(doc)
        problem = data.get("problem", "")
        if (problem in _PROBLEMS) is not (doc["role"] == "system") or bool(problem) is bool(doc.get("reason")):
            self._find(doc, f"webhook {data['webhook']} was ended by {doc['actor']}: {problem or 'no problem'}")
        person = self._rows.get(STAFF, row["subscribed_by"])
        if problem == "subscriber_left" and (person["is_active"] or person["locked_by_password"]):
            self._find(doc, f"{row['subscribed_by']} had not left")
        if problem == "subscriber_may_not_follow" and _FOLLOW & set(person["roles"]):
            self._find(doc, f"{row['subscribed_by']} might follow the house")
        self._rows.change(
            WEBHOOK, str(data["webhook"]), ended_at=Near(doc["at"]), problem=problem,
        )  # fmt: skip

    def _going(self, doc: Row) -> Row:
        row = self._rows.get(WEBHOOK, str(doc["data"]["webhook"]))
        if row["ended_at"] is not None:
            self._find(doc, f"webhook {row['number']} had ended")
        return row

    def _find(self, doc: Row, problem: str) -> None:
        self._rows.find("webhook_differs", f"{doc['chain']}#{doc['seq']}", problem)
