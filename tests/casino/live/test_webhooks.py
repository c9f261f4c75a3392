"""Webhooks: signed, in order, again until they are taken, once more when asked; over HTTP to a receiver of ours."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from casino.audit.events.webhooks import WebhookEnded, WebhookReplayed, WebhookSubscribed
from casino.audit.verifier.state_approvers import needed, one_of
from casino.core import once_live
from casino.core.sql import database_time
from casino.houses.models import ClockTimestamp
from casino.live import delivering, webhooks
from casino.live.delivering import Deliverer
from casino.live.models import Webhook, WebhookPosition
from casino.metrics import state
from casino.metrics.declared import WEBHOOKS
from casino.reports import alarms
from casino.staff.models import Role, Staff, TerminalKind
from casino.verification.auditing import verify_house
from tests.casino.kit import ACTOR, Kit
from tests.casino.live.readers import happen
from tests.casino.live.receiver import Post, Receiving, write
from tests.casino.reports.test_catalogue_of_control import forged

REASON = {"reason": "the scanner follows"}
T1, T2, C1 = "table/T1", "table/T2", "drawer/C1"


def subscribe(kit: Kit, *chains: str, status: int = 201, **more: Any) -> dict[str, Any]:
    """An administrator subscribes `scanner`."""
    answer = kit.office(Role.ADMIN).post("webhooks", {"destination": "scanner", "chains": chains} | REASON | more)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def send(deliverer: Deliverer | None = None) -> None:
    """Everything that is due is sent, and noted."""
    ours = deliverer or Deliverer()
    while ours.look():
        ours.rest(5)
    if deliverer is None:
        ours.close()


def position(kit: Kit, chain: str) -> WebhookPosition:
    """How far a chain has come."""
    return WebhookPosition.objects.get(house=kit.house, webhook__ended_at=None, chain=chain)


def retry_now(kit: Kit) -> None:
    """What waits for its next attempt is due."""
    WebhookPosition.objects.filter(house=kit.house).update(next_at=ClockTimestamp())


def found_by_verifier(kit: Kit) -> list[str]:
    """Problems of webhooks that the verifier finds."""
    return [one.problem for one in verify_house(kit.house).findings if one.code in ("webhook_differs", "state_differs")]


def test_the_list_says_what_waits_and_how_many_keys_sign(kit: Kit, scanner: Receiving, tmp_path: Path) -> None:
    subscribe(kit, T1, T2)
    reader = kit.office(Role.AUDITOR)

    def listed() -> tuple[int, dict[str, int]]:
        [one] = reader.get("webhooks").json()["webhooks"]
        return one["key_count"], {each["chain"]: each["waiting"] for each in one["positions"]}

    assert listed() == (1, {T1: 0, T2: 0})
    scanner.answer = lambda post: 500 if post.content["chain"] == T1 else 204
    for chain in (T1, T1, T2):
        happen(kit.house, chain, version=5)
    assert listed() == (1, {T1: 2, T2: 1})
    send()
    assert listed() == (1, {T1: 2, T2: 0})
    # The operator is about to replace the key, and then takes the receiver out.
    write(tmp_path, scanner, old_secret_file=str(tmp_path / "key"))
    assert listed() == (2, {T1: 2, T2: 0})
    write(tmp_path, scanner, houses=["ELSEWHERE"])
    assert listed() == (0, {T1: 2, T2: 0})


# --- Sending --------------------------------------------------------------------------------------------------------


def test_hints_come_signed_and_in_order(kit: Kit, scanner: Receiving) -> None:
    begun = subscribe(kit, T1)
    [start] = [one["position"] for one in begun["positions"]]
    send()
    assert scanner.posts == []
    first = happen(kit.house, T1, version=5)
    happen(kit.house, T2, version=9)
    happen(kit.house, T1, version=6)
    send()
    assert first == start + 1
    [post] = scanner.posts
    assert post.is_signed() and not post.is_signed(b"another key of thirty-two bytes!")
    assert (post.path, post.headers["content-type"]) == ("/hints?of=house", "application/json")
    assert post.content == {
        "house": kit.house.code, "webhook": 1, "epoch": post.content["epoch"], "chain": T1, "position": first + 1,
        "hints": [
            {"chain": T1, "seq": first, "version": 5, "kind": "table.closed"},
            {"chain": T1, "seq": first + 1, "version": 6, "kind": "table.closed"},
        ],
    }  # fmt: skip
    assert position(kit, T1).position == first + 1
    assert found_by_verifier(kit) == []


def test_many_hints_come_in_several_posts_and_never_the_next_before_one_is_taken(
    kit: Kit, scanner: Receiving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "AT_A_TIME", 3)
    subscribe(kit, T1)
    seqs = [happen(kit.house, T1, version=number) for number in range(1, 9)]
    answers = iter([204, 500, 503, 200, 307])
    scanner.answer = lambda _: next(answers, 204)
    # A redirect would lead here again.
    scanner.headers = {"Location": scanner.url}
    deliverer = Deliverer()
    for _ in range(4):
        send(deliverer)
        retry_now(kit)
    assert [post.seqs for post in scanner.posts] == [seqs[:3], seqs[3:6], seqs[3:6], seqs[3:6], seqs[6:], seqs[6:]]
    # Later ones that have happened meanwhile do not change what is sent again.
    assert len({post.id for post in scanner.posts}) == 3
    assert scanner.of(T1) == seqs
    assert (position(kit, T1).attempts, position(kit, T1).problem, position(kit, T1).failing_since) == (0, "", None)


def test_what_is_sent_again_is_the_same_though_more_has_happened(kit: Kit, scanner: Receiving) -> None:
    subscribe(kit, T1)
    first = happen(kit.house, T1, version=5)
    scanner.answer = lambda _: 500
    send()
    happen(kit.house, T1, version=6)
    retry_now(kit)
    scanner.answer = lambda _: 200
    send()
    assert [post.seqs for post in scanner.posts] == [[first], [first], [first + 1]]
    one, again, other = scanner.posts
    assert one.id == again.id != other.id and one.body == again.body and again.is_signed()


def test_a_chain_that_fails_holds_up_no_other(kit: Kit, scanner: Receiving) -> None:
    subscribe(kit, "table/*", C1)
    scanner.answer = lambda post: 500 if post.content["chain"] == T1 else 204
    failing, well, drawer = (happen(kit.house, chain, version=5) for chain in (T1, T2, C1))
    deliverer = Deliverer()
    send(deliverer)
    happen(kit.house, T2, version=6)
    send(deliverer)
    assert (scanner.of(T1), scanner.of(T2), scanner.of(C1)) == ([], [well, well + 1], [drawer])
    waits = []
    for _ in range(4):
        waits.append((position(kit, T1).next_at - database_time()).total_seconds())
        retry_now(kit)
        send(deliverer)
    assert [round(one) for one in waits] == [1, 2, 4, 8]
    WebhookPosition.objects.filter(house=kit.house, chain=T1).update(attempts=40)
    retry_now(kit)
    send(deliverer)
    assert round((position(kit, T1).next_at - database_time()).total_seconds()) == 3600
    scanner.answer = lambda _: 204
    retry_now(kit)
    send(deliverer)
    assert scanner.of(T1) == [failing]


def test_a_receiver_that_hangs_holds_up_no_other_chain_and_is_cut(
    kit: Kit, scanner: Receiving, settings: Any, tmp_path: Path
) -> None:
    settings.CASINO_DESTINATIONS = write(tmp_path, scanner, timeout=2)
    subscribe(kit, T1, T2)
    goes_on = threading.Event()

    def answer(post: Post) -> int:
        if post.content["chain"] == T1:
            goes_on.wait(20)
        return 204

    scanner.answer = answer
    happen(kit.house, T1, version=5)
    well = happen(kit.house, T2, version=5)
    deliverer, began = Deliverer(), time.monotonic()
    while deliverer.look() > 1:
        deliverer.rest(5)
    assert scanner.of(T2) == [well] and position(kit, T2).position == well
    assert position(kit, T1).worked_until is not None
    send(deliverer)
    assert 1.5 < time.monotonic() - began < 15
    goes_on.set()
    assert (position(kit, T1).problem, position(kit, T1).attempts) == ("receiver_timeout", 1)
    assert position(kit, T1).worked_until is None


def test_two_senders_at_once_send_each_number_once_and_in_order(
    kit: Kit, scanner: Receiving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "AT_A_TIME", 2)
    subscribe(kit, T1, T2)
    under_way, together = dict.fromkeys((T1, T2), 0), []

    def answer(post: Post) -> int:
        chain = post.content["chain"]
        under_way[chain] += 1
        together.append(under_way[chain])
        time.sleep(0.05)
        under_way[chain] -= 1
        return 204

    scanner.answer = answer
    stop = threading.Event()
    threads = [threading.Thread(target=delivering.deliver, args=(stop,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        seqs = {chain: [happen(kit.house, chain, version=number) for number in range(1, 9)] for chain in (T1, T2)}
        scanner.until(lambda: all(scanner.of(chain)[-1:] == [seqs[chain][-1]] for chain in seqs))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert {chain: scanner.of(chain) for chain in seqs} == seqs
    assert set(together) == {1}


def test_a_sender_that_dies_leaves_the_same_to_the_next_when_its_lease_is_over(kit: Kit, scanner: Receiving) -> None:
    subscribe(kit, T1)
    first = happen(kit.house, T1, version=5)
    dead = Deliverer()
    assert dead.look() == 1
    scanner.until(lambda: len(scanner.taken) == 1)
    # It was taken, and nobody has noted that.
    happen(kit.house, T1, version=6)
    send()
    assert len(scanner.posts) == 1
    WebhookPosition.objects.filter(house=kit.house).update(worked_until=ClockTimestamp())
    send()
    assert [post.seqs for post in scanner.posts] == [[first], [first], [first + 1]]
    assert scanner.posts[0].id == scanner.posts[1].id
    # The dead one was only slow: what it notes now is not its own any more.
    dead.close()
    assert position(kit, T1).position == first + 1


def test_a_restored_database_sends_again_what_it_has_not_noted(kit: Kit, scanner: Receiving) -> None:
    subscribe(kit, T1)
    first = happen(kit.house, T1, version=5)
    send()
    WebhookPosition.objects.filter(house=kit.house).update(position=first - 1)
    send()
    assert [post.seqs for post in scanner.posts] == [[first], [first]]
    assert scanner.posts[0].id == scanner.posts[1].id
    row = Webhook.objects.select_related("house").get(house=kit.house)
    hint = delivering.Hint(T1, first, "table.closed", 5)
    before, after = (delivering.message_of(row, epoch, [hint], whole=True) for epoch in (1, 2))
    # In a new epoch of the log the same number may be of another event.
    assert before[0] != after[0] and before == delivering.message_of(row, 1, [hint], whole=True)


def test_tables_that_are_set_up_later_begin_with_their_first_event(kit: Kit, scanner: Receiving) -> None:
    begun = subscribe(kit, "table/*")
    assert [one["chain"] for one in begun["positions"]] == [T1, T2]
    kit.table("T9")
    send()
    assert scanner.of("table/T9")[0] == 1 and scanner.of(T1) == []
    office = kit.office(Role.AUDITOR)
    [listed] = office.get("webhooks").json()["webhooks"]
    assert {one["chain"]: one["position"] for one in listed["positions"]}["table/T9"] == scanner.of("table/T9")[-1]


# --- Sending again, and ends ----------------------------------------------------------------------------------------


def test_what_follows_a_number_is_sent_again(kit: Kit, scanner: Receiving) -> None:
    subscribe(kit, T1, T2)
    seqs = [happen(kit.house, T1, version=number) for number in range(1, 4)]
    send()
    admin = kit.office(Role.ADMIN)
    again = {"chain": T1, "after": seqs[0]} | REASON
    replayed = admin.ok("webhooks/1/replay", again)
    assert {one["chain"]: one["position"] for one in replayed["positions"]}[T1] == seqs[0]
    send()
    assert [post.seqs for post in scanner.posts] == [seqs, seqs[1:]]
    admin.ok("webhooks/1/replay", again | {"after": 0})
    send()
    assert scanner.posts[-1].seqs == list(range(1, seqs[-1] + 1))
    ahead = admin.post("webhooks/1/replay", again | {"after": seqs[-1] + 1})
    assert (ahead.status_code, ahead.json()["code"], ahead.json()["position"]) == (422, "replay_ahead", seqs[-1])
    assert admin.post("webhooks/1/replay", again | {"chain": C1}).status_code == 404
    assert admin.post("webhooks/7/replay", again).status_code == 404
    assert found_by_verifier(kit) == []


def test_a_replay_while_something_is_sent_comes_after_it(kit: Kit, scanner: Receiving) -> None:
    subscribe(kit, T1)
    seqs = [happen(kit.house, T1, version=number) for number in range(1, 4)]
    goes_on = threading.Event()
    scanner.answer = lambda _: 204 if goes_on.wait(20) else 500
    deliverer = Deliverer()
    assert deliverer.look() == 1
    scanner.until(lambda: len(scanner.posts) == 1)
    kit.office(Role.ADMIN).ok("webhooks/1/replay", {"chain": T1, "after": seqs[0] - 2} | REASON)
    other = Deliverer()
    assert other.look() == 0
    goes_on.set()
    send(deliverer)
    assert [post.seqs for post in scanner.posts] == [seqs, [seqs[0] - 1, *seqs]]
    assert position(kit, T1).position == seqs[-1]


def test_a_receiver_that_is_gone_ends_it(kit: Kit, scanner: Receiving) -> None:
    subscribe(kit, T1)
    happen(kit.house, T1, version=5)
    scanner.answer = lambda _: 410
    send()
    happen(kit.house, T1, version=6)
    retry_now(kit)
    send()
    assert len(scanner.posts) == 1
    admin = kit.office(Role.ADMIN)
    [ended] = admin.get("webhooks").json()["webhooks"]
    assert (ended["problem"], ended["ended_at"] is None) == ("receiver_gone", False)
    refused = admin.post("webhooks/1/end", REASON)
    assert (refused.status_code, refused.json()["code"]) == (409, "webhook_ended")
    assert found_by_verifier(kit) == []


def test_a_person_ends_it_and_another_goes_on_from_its_positions(kit: Kit, scanner: Receiving) -> None:
    subscribe(kit, T1)
    kit.office(Role.ADMIN).ok("webhooks/1/end", REASON)
    missed = happen(kit.house, T1, version=5)
    send()
    assert scanner.posts == []
    assert subscribe(kit, T1)["webhook"] == 2
    kit.office(Role.ADMIN).ok("webhooks/2/replay", {"chain": T1, "after": missed - 1} | REASON)
    send()
    assert scanner.of(T1) == [missed]
    assert found_by_verifier(kit) == []


def test_a_chain_that_is_not_taken_is_an_alarm_and_a_metric_until_it_is(kit: Kit, scanner: Receiving) -> None:
    def shown() -> list[str]:
        return [one.name for one in alarms.alarms(kit.house) if one.kind == "webhook_failing"]

    def counted() -> float:
        [found] = [value for one, labels, value in state.read() if (one, labels[:1]) == (WEBHOOKS, (kit.house.code,))]
        return found

    subscribe(kit, T1)
    happen(kit.house, T1, version=5)
    scanner.answer = lambda _: 500
    for _ in range(webhooks.ALARMING):
        assert shown() == [] and counted() == 0
        send()
        retry_now(kit)
    assert shown() == ["webhook 1, table/T1"] and counted() == 1
    scanner.answer = lambda _: 410
    send()
    assert shown() == ["webhook 1"] and counted() == 0
    subscribe(kit, T1)
    assert shown() == []


# --- Rights ---------------------------------------------------------------------------------------------------------


def test_kinds_are_named_as_far_as_the_subscriber_may_know_them(kit: Kit, scanner: Receiving) -> None:
    login = subscribe(kit, T1)["subscribed_by"]
    kinds = [("", 5), ("attempt.refused", None)]
    for kind, version in kinds:
        happen(kit.house, T1, version=version, kind=kind)
    send()
    assert [hint["kind"] for hint in scanner.posts[-1].content["hints"]] == ["table.closed", "attempt.refused"]
    Staff.objects.filter(house=kit.house, login=login).update(roles=[Role.FLOOR])
    happen(kit.house, T1, version=6)
    happen(kit.house, T1, kind="attempt.refused")
    send()
    assert [hint["kind"] for hint in scanner.posts[-1].content["hints"]] == ["table.closed", None]


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"roles": [Role.DEALER]}, "subscriber_may_not_follow"), ({"is_active": False}, "subscriber_left")],
)
def test_it_ends_with_the_right_of_who_has_subscribed_it(
    kit: Kit, scanner: Receiving, change: dict[str, Any], problem: str
) -> None:
    login = subscribe(kit, T1)["subscribed_by"]
    Staff.objects.filter(house=kit.house, login=login).update(**change)
    happen(kit.house, T1, version=5)
    send()
    assert scanner.posts == []
    [ended] = kit.office(Role.ADMIN).get("webhooks").json()["webhooks"]
    assert ended["problem"] == problem


def test_once_the_house_is_live_a_manager_approves_it(
    kit: Kit, scanner: Receiving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(once_live, "is_live", lambda house: True)
    body = {"destination": "scanner", "chains": [T1]} | REASON
    row = kit.approved(kit.office(Role.ADMIN), "webhooks", body)
    assert row["approval"] == 1
    assert needed({"kind": "webhook.subscribed", "role": "admin", "data": {}}, {}) == one_of(("manager",))
    # To end it, or to send again what was sent, takes one person.
    admin = kit.office(Role.ADMIN)
    admin.ok("webhooks/1/replay", {"chain": T1, "after": 0} | REASON)
    admin.ok("webhooks/1/end", REASON)
    assert found_by_verifier(kit) == []


def test_the_verifier_finds_what_nobody_may_do(kit: Kit, scanner: Receiving) -> None:
    login = subscribe(kit, T1)["subscribed_by"]
    floor = kit.hire(Role.FLOOR, TerminalKind.OFFICE, "")[0].actor
    number_two = WebhookSubscribed(webhook=2, destination="scanner", chains=[T1], reason="secretly")
    cases: list[tuple[Any, Any, str]] = [
        (number_two, floor, f"webhook 2 was subscribed by {floor.staff} as floor"),
        (WebhookReplayed(webhook=1, chain=T2, after=1, position=2, reason="again"), ACTOR, f"sends nothing of {T2}"),
        (WebhookReplayed(webhook=1, chain=T1, after=3, position=2, reason="again"), ACTOR, "and had come to 2"),
        (WebhookEnded(webhook=1, problem="subscriber_left"), ACTOR, f"{login} had not left"),
        (WebhookReplayed(webhook=1, chain=T1, after=1, position=2, reason="again"), ACTOR, "webhook 1 had ended"),
        (WebhookEnded(webhook=2, problem="subscriber_may_not_follow"), ACTOR, f"{floor.staff} might follow the house"),
        (replace(number_two, webhook=4), ACTOR, "webhook 4 follows none"),
        (WebhookEnded(webhook=4), ACTOR, "webhook 4 was ended by test: no problem"),
    ]
    for event, actor, problem in cases:
        forged(kit, kit.house.chain, event, actor)
        assert [one for one in found_by_verifier(kit) if one.endswith(problem)], problem
