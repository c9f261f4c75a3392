"""A drawer as its screen shows it: the jobs in the order of the work, the form that is next, what waits there."""

from typing import Any

from django.utils.translation import gettext, gettext_noop

from casino.console import desks
from casino.console.desks import Queue, Slot, Waiting
from casino.console.pages import Screen
from casino.console.said import code as code_of
from casino.console.show import pieces

_OPEN, _CLOSED = ("open",), ("closed",)
#: The jobs in the order of a shift: operation, key, words, states of the drawer in which it may be done.
JOBS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("openDrawer", "1", gettext_noop("Count the float"), _CLOSED),
    ("takeOverDrawer", "2", gettext_noop("Take over"), _CLOSED),
    ("buyIn", "B", gettext_noop("Buy in"), _OPEN),
    ("cashOut", "O", gettext_noop("Cash out"), _OPEN),
    ("exchangeAtCage", "E", gettext_noop("Exchange"), _OPEN),
    ("takeDeposit", "D", gettext_noop("Take a deposit"), _OPEN),
    ("drawDeposit", "W", gettext_noop("Draw a deposit"), _OPEN),
    ("returnDeposit", "R", gettext_noop("Return a deposit"), _OPEN),
    ("announceCashOut", "A", gettext_noop("Announce"), _OPEN),
    ("holdPayout", "H", gettext_noop("Hold a payout"), _OPEN),
    ("bearerBuyIn", "N", gettext_noop("Bearer buys in"), _OPEN),
    ("bearerCashOut", "M", gettext_noop("Bearer is paid"), _OPEN),
    ("takeForeignChips", "X", gettext_noop("Foreign chips"), _OPEN),
    ("sendFill", "F", gettext_noop("Send a fill"), _OPEN),
    ("requestCredit", "C", gettext_noop("Ask a credit"), _OPEN),
    ("offerHandover", "K", gettext_noop("Skim"), ("open", "closed")),
    ("countDrawer", "T", gettext_noop("Count"), _OPEN),
    ("recountDrawer", "4", gettext_noop("Count again"), ("counted",)),
    ("signOffDrawer", "5", gettext_noop("Sign off"), ("recounted",)),
    ("closeDrawer", "6", gettext_noop("Close"), ("counted", "recounted")),
    ("handOverDrawer", "V", gettext_noop("Hand over"), ("counted", "recounted")),
    ("reopenDrawer", "7", gettext_noop("Go on"), _CLOSED),
)  # fmt: skip
#: What a handover is taken with, and by which job.
_TAKEN_BY = {
    "float": "openDrawer", "hand_over": "takeOverDrawer", "replenishment": "takeHandover", "skim": "takeHandover",
}  # fmt: skip
#: Jobs that a word of the house explains.
_TERMS = {
    "openDrawer": "float", "offerHandover": "float", "sendFill": "fill, credit", "requestCredit": "fill, credit",
    "countDrawer": "variance", "signOffDrawer": "variance",
}  # fmt: skip
_STATES = {
    "open": gettext_noop("not while open"), "closed": gettext_noop("not while closed"),
    "counted": gettext_noop("not once counted"), "recounted": gettext_noop("not once counted"),
    "retired": gettext_noop("the drawer is retired"),
}  # fmt: skip


def title(name: str) -> str:
    """A job of the dock in few words; empty for others."""
    return next((gettext(words) for one, _, words, _ in JOBS if one == name and one != "offerHandover"), "")


def slots(screen: Screen, drawer: dict[str, Any]) -> list[Slot]:
    """The jobs of those who may do them, each in its place, with the reason where it cannot be done now."""
    found = []
    for name, key, title, states in JOBS:
        operation = desks.mine(screen, name)
        if operation is not None:
            words, given = _handing(screen, drawer) if name == "offerHandover" else (gettext(title), {})
            reason = _reason(screen, name, states, drawer)
            found.append(Slot(operation, key, words, reason, given, _TERMS.get(name, "")))
    return found


def _handing(screen: Screen, drawer: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What is counted out between the vault and the drawer now, and by whom."""
    if drawer["state"] == "closed":
        return gettext("Count out a float"), {"kind": "float"}
    if screen.has("cashier"):
        return gettext("Skim"), {"kind": "skim"}
    return gettext("Replenish"), {"kind": "replenishment"}


def _reason(screen: Screen, name: str, states: tuple[str, ...], drawer: dict[str, Any]) -> str:
    if drawer["state"] not in states:
        why = _STATES[drawer["state"]]
        return gettext(why)
    offered = _offered(drawer)
    if name in ("openDrawer", "takeOverDrawer") and offered != name:
        return gettext("nothing is offered")
    if name == "offerHandover" and drawer["state"] == "closed" and not screen.has("cage_supervisor", "manager"):
        return gettext("by a supervisor")
    return gettext("one is offered already") if name == "offerHandover" and drawer["handover"] else ""


def _offered(drawer: dict[str, Any]) -> str:
    """The job by which what is offered is taken here; empty: nothing is offered, or it is taken elsewhere."""
    handover = drawer["handover"]
    if handover is None or (handover["kind"] == "hand_over" and handover["drawer"] == drawer["drawer"]):
        return ""
    return _TAKEN_BY[handover["kind"]]


def next_jobs(screen: Screen, drawer: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The forms that stand open: what the state of the drawer asks for; each with what is known."""
    state, offered = drawer["state"], _offered(drawer)
    wanted: list[tuple[str, dict[str, Any]]] = []
    if state == "open":
        wanted = [("buyIn", {}), ("cashOut", {})]
    elif state == "counted":
        wanted = [("closeDrawer", {}), ("recountDrawer", {})]
    elif state == "recounted":
        wanted = [("signOffDrawer", {})]
    elif offered == "takeOverDrawer":
        wanted = [(offered, {"from_drawer": drawer["handover"]["drawer"]})]
    elif state == "closed":
        wanted = [("openDrawer", {})] if offered else [("offerHandover", {"kind": "float"})]
        if not offered and not screen.has("cage_supervisor", "manager"):
            wanted = []
    return [(name, given) for name, given in wanted if desks.mine(screen, name) is not None]


def work(screen: Screen, drawer: dict[str, Any]) -> str:
    """Names the forms that stand open: where it changes, they are loaded again."""
    return ".".join([drawer["state"], *(name for name, _ in next_jobs(screen, drawer))])


def queues(screen: Screen, drawer: dict[str, Any]) -> list[Queue]:
    """What waits for the drawer and may be read again with every hint: a handover, fills and credits, approvals."""
    offered = [_handover(screen, drawer, drawer["handover"])] if drawer["handover"] else []
    title, code = gettext("Fills and credits"), drawer["drawer"]
    found = [
        Queue(gettext("Handover"), tuple(offered)),
        *(
            desks.queue(
                screen, f"{title}: {code_of(state)}", "listTransfers", _transfer,
                term="fill, credit", drawer=code, state=state,
            )
            for state in _UNDER_WAY
        ),
        desks.queue(
            screen, gettext("Approvals that were asked for"), "listApprovals", _approval,
            term="approval", state="requested",
        ),
    ]  # fmt: skip
    return [one for one in found if one.rows]


#: States of fills and credits under way, as the house calls them.
_UNDER_WAY = ("requested", "sent", "declined")


def lists(screen: Screen, drawer: dict[str, Any]) -> list[Queue]:
    """What waits, and is read only when a person does something: every such read is in the audit trail."""
    announced = {"drawer": drawer["drawer"], "state": "announced"}
    found = [
        desks.queue(screen, gettext("Announced cash-outs"), "listAnnouncedCashOuts", _announced, **announced),
        desks.queue(screen, gettext("Held payouts"), "listHeldPayouts", _held, state="held"),
    ]
    return [one for one in found if one.rows]


def _approval(screen: Screen, row: dict[str, Any]) -> Waiting:
    return Waiting(f"{row['approval']}", (code_of(row["kind"]), row["requested_by"]))


def _handover(screen: Screen, drawer: dict[str, Any], row: dict[str, Any]) -> Waiting:
    number = {"handover": row["handover"]}
    wanted = []
    takers = ("cashier",) if row["kind"] == "replenishment" else ("cage_supervisor", "manager")
    if _offered(drawer) == "takeHandover" and screen.has(*takers):
        wanted.append(("takeHandover", gettext("Count and take"), number))
    if row["drawer"] == drawer["drawer"]:
        wanted.append(("withdrawHandover", gettext("Withdraw"), number))
    return Waiting(f"{code_of(row['kind']).replace('_', ' ')} {row['handover']}", (row["offered_by"],),
                   desks.acts(screen, wanted))  # fmt: skip


def _transfer(screen: Screen, row: dict[str, Any]) -> Waiting:
    number = {row["kind"]: row["serial"]}
    wanted: list[tuple[str, str, dict[str, Any]]] = []
    if row["kind"] == "fill":
        if row["state"] == "requested":
            wanted.append(("sendRequestedFill", gettext("Send"), number))
        wanted.append(("cancelFillAtDrawer", gettext("Cancel"), number))
    elif row["state"] == "requested":
        wanted.append(("cancelCreditAtDrawer", gettext("Cancel"), number))
    else:
        wanted += [
            ("receiveCredit", gettext("Count and receive"), number),
            ("declineCredit", gettext("Decline"), number),
            ("acceptCreditWithVariance", gettext("Accept with a variance"), number),
        ]
    words = [row["table"], *_requested(screen, row), gettext("%(minutes)s min") % {"minutes": row["minutes"]}]
    if row["late"]:
        words.append(code_of(row["late"]))
    return Waiting(f"{code_of(row['kind'])} {row['serial']}", tuple(words), desks.acts(screen, wanted))


def _requested(screen: Screen, row: dict[str, Any]) -> list[str]:
    """What was asked for, where the reader may know it."""
    asked = row.get("requested") or {}
    found = [screen.money.shown(asked["amount"])] if "amount" in asked else []
    return found + ([pieces(asked["pieces"], screen.money)] if asked.get("pieces") else [])


def _announced(screen: Screen, row: dict[str, Any]) -> Waiting:
    money = screen.money
    pay: dict[str, Any] = {"announcement": row["announcement"]}
    pay |= {"amount": money.typable(row["amount"])}
    name = "bearerCashOut"
    if row["player"]:
        name, pay = "cashOut", pay | {"player": row["player"]}
    withdrawn = {"announcement": row["announcement"]}
    wanted = [(name, gettext("Pay"), pay), ("withdrawAnnouncement", gettext("Withdraw"), withdrawn)]
    words = (row["player"] or gettext("unnamed"), money.shown(row["amount"]), money.moment(row["until"]))
    return Waiting(f"{row['announcement']}", words, desks.acts(screen, wanted))


def _held(screen: Screen, row: dict[str, Any]) -> Waiting:
    wanted = [("releasePayout", gettext("Pay"), {"payout": row["payout"]})]
    words = (row["player"], screen.money.shown(row["amount"]), code_of(row["cause"]), row["drawer"] or "")
    return Waiting(f"{row['payout']}", words, desks.acts(screen, wanted))
