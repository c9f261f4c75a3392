"""The way of a bet: console -> API -> engine and ledger -> audit -> outbox -> worker -> settlement."""

import json

from casino.audit.models import Event
from casino.core import canonical
from casino.hands import deals, selectors
from casino.hands.models import Hand, HandLine, HandState
from casino.houses.models import OutboxMessage
from casino.reports.selectors import hand_money, house_report
from casino.reports.verifying import verification
from casino.staff.models import Role
from deploy.demo.evening import HERE as DEMO
from engine.deal.shuffle import commitment
from engine.kernel.canonical import sha256_of
from engine.record.format import parse_record
from engine.record.replay import replay
from ledger.models import Transaction
from tests.casino.kit import SAMPLE, Kit
from tests.words import WORDS, as_action


def test_the_worked_hand_of_the_record_format_pays_what_it_says(kit: Kit) -> None:
    kit.table(tax_bps=0)
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    for line in SAMPLE:
        dealer.act(line)
    assert kit.settle() == [HandState.SETTLED]
    hand = Hand.objects.get(house=kit.house)
    assert hand_money(hand) == {
        "hand": "T1-000001", "state": "settled", "net": [1800, -300, 0, -1500], "tax": 0, "bonus": 0, "carry_out": 0,
    }  # fmt: skip
    stacks = [seat["stack"] for seat in dealer.refresh()["seats"]]
    assert stacks == [21_800, 14_700, 9_000, 28_500]


def test_a_bet_moves_at_once_and_the_award_waits_for_the_worker(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    answer = dealer.act("p1 po 100")
    assert answer["balances"]["pot"] == 100 == kit.balance("2030/T1")
    assert kit.balance("2020/T1/T1-u1") == 19_900
    for line in SAMPLE[1:]:
        dealer.act(line)
    # 3,300 lie in the pot until the worker has replayed the hand.
    assert kit.balance("2030/T1", "4010/T1", "2020/T1/T1-u1") == [3_300, 0, 18_500]
    assert dealer.refresh()["state"] == "settling"
    kit.settle()
    # 5 % of 3,300 is 165.
    assert kit.balance("2030/T1", "4010/T1", "2020/T1/T1-u1") == [0, 165, 18_500 + 3_300 - 165]
    assert kit.balance("9150/T1") == 165
    assert dealer.refresh()["state"] == "open"


def test_several_actions_in_one_request_are_taken_all_or_none(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    lines = ("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 Kl9b")
    actions = [{"actor": "p1", "verb": "po", "amount": 100}] + [
        {"actor": "d", "verb": "dh", "target": line.split()[2], "cards": line.split()[3]} for line in lines[1:]
    ]
    refused = dealer.post("hand/actions", {"actions": actions})
    assert (refused.status_code, refused.json()["code"]) == (422, "card_already_dealt")
    assert kit.balance("2030/T1") == 0
    assert not HandLine.objects.filter(hand__house=kit.house).exists()
    dealer.act(*lines[:3])
    assert HandLine.objects.filter(hand__house=kit.house).count() == 3


def test_the_missing_vizi_is_settled_and_the_cukassza_opens_the_next_hand(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    dealer.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a")
    dealer.act("p2 f")
    dealer.act("p3 f")
    dealer.act("p4 f")
    assert kit.balance("2030/T1", "2040/T1") == [100, 0]
    kit.settle()
    assert kit.balance("2030/T1", "2040/T1") == [0, 400]
    assert dealer.refresh()["cukassza"] == 400
    opened = dealer.ok("hands", {"mode": "physical"})
    # The turn to deal has passed to the old first player: seat 2 is p1 now.
    assert [seat["seat"] for seat in opened["seats"]] == [2, 3, 4, 1]
    assert kit.balance("2030/T1", "2040/T1") == [400, 0]
    assert opened["balances"] == {
        "pot": 400, "cukassza": 0, "bank": 0, "stacks": {"p1": 14_900, "p2": 8_900, "p3": 29_900, "p4": 19_900},
    }  # fmt: skip


def test_the_same_request_again_is_answered_the_same_and_changes_nothing(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    version = dealer.version
    body = {"actions": [{"actor": "p1", "verb": "po", "amount": 100}]}
    first = dealer.post("hand/actions", body, key="once")
    again = dealer.post("hand/actions", body, key="once", version=version)
    assert first.json() == again.json()
    assert (first.headers.get("Idempotency-Replayed"), again.headers["Idempotency-Replayed"]) == (None, "true")
    assert kit.balance("2030/T1") == 100
    assert HandLine.objects.filter(hand__house=kit.house).count() == 1


def test_every_accepted_line_is_in_the_audit_trail_at_the_place_the_answer_names(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    receipts = [dealer.act(line)["audit"] for line in SAMPLE]
    kit.settle()
    events = {event.seq: event for event in Event.objects.filter(chain__house=kit.house, chain__name="table/T1")}
    recorded = []
    for receipt in receipts:
        event = events[receipt["seq"]]
        assert event.leaf_hash == receipt["hash"]
        recorded += json.loads(event.payload)["data"]["lines"]
    # Face-down cards are recorded as hashes: auditors read along.
    assert recorded == [f"{line[:8]}{'??' * (len(line[8:]) // 2)}" if "dh" in line else line for line in SAMPLE]
    hashes = {seq: event.doc["data"].get("line_hashes", {}) for seq, event in events.items()}
    assert [[*hashes[receipt["seq"]]] for receipt in receipts] == [
        [str(number)] if " dh " in line else [] for number, line in enumerate(SAMPLE, 1)
    ]
    last = events[receipts[-1]["seq"]].doc["data"]
    showed = {line.split()[0] for line in SAMPLE if " sm " in line}
    folded = [line for line in SAMPLE if " dh " in line and line.split()[2] not in showed]
    assert folded and last["log"] == [line[:8] + "????" if line in folded else line for line in SAMPLE]
    for number, salt in last["line_salts"].items():
        line = SAMPLE[int(number) - 1]
        assert " dh " in line and line not in folded
        hashed = next(of[number] for of in hashes.values() if number in of)
        assert hashed == canonical.sha256(["T1-000001", int(number), line, salt])
    assert "log" not in events[receipts[-2]["seq"]].doc["data"]
    assert verification(kit.house)["audit_findings"] == []


def test_an_electronic_hand_keeps_its_cards_from_the_console(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    hand = dealer.deal(button=4)
    row = Hand.objects.get(house=kit.house)
    assert hand["commitment"] == commitment(deals.open_seed(row), "T1-000001")
    hand = dealer.act("p1 po 100")
    # Cards are dealt by themselves, and none of them is recorded.
    assert hand["actor"] == "p2"
    assert all(set(seat["cards"]) == {"??"} for seat in hand["view"]["seats"])
    assert hand["view"]["log"][1:] == [f"d dh p{seat} ????" for seat in (1, 2, 3, 4)]
    assert "?" not in selectors.log(row)[1]


def test_an_electronic_hand_resumes_with_the_same_deck(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.deal(button=4)
    row = Hand.objects.get(house=kit.house)
    assert deals.deck(row) == deals.deck(Hand.objects.get(id=row.id))
    assert len(set(deals.deck(row) or ())) == 32


def test_unknown_cards_are_named_at_the_showdown(kit: Kit) -> None:
    kit.table(seats=2)
    dealer = kit.seated(stacks=(5_000, 5_000))
    dealer.ok("hands", {"mode": "physical", "button": 2})
    dealer.act("p1 po 100", "d dh p1 ????", "d dh p2 ????")
    dealer.act("p2 cc 100")
    dealer.act("p1 k", "d dh p1 ????", "d dh p2 ????")
    dealer.act("p1 lk 2", "p1 rb 100")
    dealer.act("p2 lk 2", "p2 cc 100")
    dealer.act("p2 st")
    dealer.act("p1 sm AaKaOaUa", "p2 sm AlKlOlXa")
    kit.settle()
    # A banda of 41 beats three leaves; pot 400, tax 20.
    assert hand_money(Hand.objects.get(house=kit.house))["net"] == [180, -200]


def test_verification_and_report_of_a_played_house_find_nothing(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    for line in SAMPLE:
        dealer.act(line)
    kit.settle()
    found = verification(kit.house)
    assert found["ok"], found
    assert (found["hand_count"], found["chain_count"]) == (1, 3)
    report = house_report(kit.house)
    assert report["custody"]["equal"]
    assert report["custody"]["chips_in_circulation"] == 4 * 30_000 - 165
    assert report["trial_balance"]["balanced"]
    assert report["tables"][0]["handle"] == 3_300


def test_one_settlement_and_one_message_per_hand(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    for line in SAMPLE:
        dealer.act(line)
    kit.settle()
    settled = Transaction.objects.filter(book=kit.house.id, kind="hand.settled")
    assert settled.count() == 1
    assert OutboxMessage.objects.filter(house=kit.house).count() == 1


def test_a_record_is_recorded_only_when_the_hand_is_over(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    auditor = kit.office()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    dealer.act(*SAMPLE[:6])
    refused = auditor.get("hands/T1-000001")
    assert (refused.status_code, refused.json()["code"]) == (409, "hand_in_play")
    dealer.act(*SAMPLE[6:])
    record = auditor.get("hands/T1-000001").json()
    assert record["acts"] == list(SAMPLE)
    assert replay(parse_record(json.dumps(record))).ok


def test_records_of_a_table_are_chained(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    auditor = kit.office()
    for number in (1, 2):
        dealer.ok("hands", {"mode": "physical", **({"button": 4} if number == 1 else {})})
        dealer.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a", "p2 f", "p3 f", "p4 f")
        kit.settle()
        dealer.refresh()
    first, second = (auditor.get(f"hands/T1-00000{number}").json() for number in (1, 2))
    assert "prev" not in first
    assert second["prev"] == sha256_of(first)


def test_the_record_of_an_electronic_hand_replays_and_opens_its_commitment(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    hand = dealer.deal(button=4)
    dealer.act("p1 po 100", "p2 f", "p3 f", "p4 f")
    record = kit.office(Role.AUDITOR).get(f"hands/{hand['hand']}").json()
    assert replay(parse_record(json.dumps(record))).ok
    assert commitment(bytes.fromhex(record["seed"]), hand["hand"]) == hand["commitment"]


def test_a_dealer_need_not_know_the_order_in_which_the_shown_cards_were_dealt(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    dealer.act(*SAMPLE[:12])
    dealer.act(*SAMPLE[12:-2], "p1 sm 7bKlXb8b", "p4 sm OlAaKh9a")
    assert selectors.log(Hand.objects.get(house=kit.house)) == list(SAMPLE)


def test_a_refused_batch_names_the_action(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    actions = [as_action(line) for line in ("p1 po 100", "d dh p1 Kl8b", "p3 f")]
    refused = dealer.post("hand/actions", {"actions": actions}).json()
    assert (refused["code"], refused["expected"]["refused_action"]) == ("not_your_turn", 2)


def test_a_leaver_reads_what_to_take_along(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    left = dealer.ok("seats/2/leave")["last_event"]
    assert left == {"kind": "table.left", "seat": 2, "player": "T1-u2", "amount": 15_000}
    assert dealer.ok("close")["last_event"]["left_with"] == {"T1-u1": 20_000, "T1-u3": 9_000, "T1-u4": 30_000}


def test_lists_are_filtered_by_what_they_know_and_refuse_the_rest(kit: Kit) -> None:
    kit.table()
    kit.seated()
    auditor = kit.office()
    chains = {
        json.loads(row["payload"])["chain"] for row in auditor.get("audit/events?chain=table/T1").json()["results"]
    }
    assert chains == {"table/T1"}
    for wrong in ("audit/events?sort=x", "hands?seat=1", "tables?page_size=0", "players?page_size=1001"):
        refused = auditor.get(wrong)
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_parameter"), wrong


def test_the_house_pays_the_bonus_for_a_41_from_the_tables_own_tray(kit: Kit) -> None:
    record = next(
        record
        for record in map(json.loads, (DEMO / "faerbeln.jsonl").read_text().splitlines())
        if any(record.get("bonus", [])) and len(record["seats"]) == 3
    )
    kit.table_for("faerbeln", {"tax_bps": 500, **record["opt"]}, code="F1", seats=3, tray=500_000)
    dealer = kit.seated("F1", stacks=(900_000,) * 3)
    dealer.ok("hands", {"mode": "physical", "button": 3})
    for gesture in WORDS["faerbeln"].gestures(record["acts"]):
        dealer.act(*gesture)
    kit.settle()
    assert hand_money(Hand.objects.get(house=kit.house))["net"] == record["net"]
    assert kit.balance("5100/F1", "4010/F1", "9130/F1") == [10_000, record["tax"], 490_000]
    assert verification(kit.house)["ok"]
    assert house_report(kit.house)["custody"]["equal"]
