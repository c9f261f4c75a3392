"""The vault is counted by two people blind of each other and of the books; a manager signs a difference off."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections, transaction

from casino.bookkeeping.postings import posting
from casino.cage.contents import in_the_vault
from casino.cage.models import VaultCount, VaultCountEntry
from casino.reports.selectors import custody, racks
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.kit import Desk, Kit, book
from tests.casino.scene import figures_of
from tests.casino.transfers.test_transfers import refusal

BOOKS = ("1010", "9110", "1160/vault", "5200/vault", "5210/vault", "2015/vault")


class Vault:
    """A house with chips of another house in its vault, two supervisors who count and two managers."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        kit.players("anna", chips=5_000)
        book(kit.house, "command:foreign", posting("foreign_chips", {"drawer": "C1"}, amount=4_000))
        book(kit.house, "command:moved", posting("foreign_to_vault", {"drawer": "C1"}, amount=4_000))
        self.one, self.other = kit.office(Role.CAGE_SUPERVISOR), kit.office(Role.CAGE_SUPERVISOR)
        self.manager, self.deputy = kit.office(Role.MANAGER), kit.office(Role.MANAGER)

    def held(self, *, cash: int = 0, foreign: int = 0, **pieces: int) -> dict[str, Any]:
        """What the vault holds by the books, and so much more or less; pieces as `c500=-1`."""
        found = in_the_vault(self.kit.house).as_json()
        for name, more in pieces.items():
            found["pieces"][name[1:]] = found["pieces"].get(name[1:], 0) + more
        return found | {"cash": found["cash"] + cash, "foreign": found["foreign"] + foreign}

    def count(self, desk: Desk, **more: int) -> Any:
        """One person's count."""
        return desk.post("vault/counts", self.held(**more))

    def both(self, **more: int) -> dict[str, Any]:
        """Both count the same."""
        assert self.count(self.one, **more).status_code == 201
        answer = self.count(self.other, **more)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()["vault_count"]
        return found

    def books(self) -> list[int]:
        """What the vault holds, and what its counts have cost."""
        found: list[int] = self.kit.balance(*BOOKS)
        return found

    def whole(self) -> None:
        """Chips and money agree, nothing is lost, books and chains are whole."""
        assert custody(self.kit.house)["equal"]
        assert all(row["equal"] for row in racks(self.kit.house)["denominations"])
        found = verification(self.kit.house)
        assert found["ok"], json.dumps(found, default=str)


@pytest.fixture
def vault(kit: Kit) -> Vault:
    """A vault with something in it."""
    return Vault(kit)


def test_a_count_that_agrees_with_the_books_is_accepted_at_once(vault: Vault) -> None:
    before = vault.books()
    first = vault.count(vault.one).json()
    assert (first["differs"], first["vault_count"]["state"]) == (False, "counting")
    done = vault.count(vault.other).json()["vault_count"]
    assert (done["state"], done["over"]) == ("accepted", {"cash": 0, "pieces": {}, "foreign": 0})
    assert vault.books() == before
    assert refusal(vault.manager.post("vault/counts/1/sign-off", {"reason": "known"})) == (409, "vault_count_accepted")
    # The next one has the next number.
    assert vault.both()["vault_count"] == 2
    vault.whole()


@pytest.mark.some_now(3)
@pytest.mark.parametrize(
    ("more", "moved"),
    [
        ({"cash": -70}, [-70, 0, 0, 70, 0, 0]),
        ({"cash": 20}, [20, 0, 0, -20, 0, 0]),
        ({"foreign": -400}, [0, 0, -400, 400, 0, 0]),
        ({"foreign": 100}, [0, 0, 100, -100, 0, 0]),
        ({"c500": -2}, [0, -1_000, 0, 0, 1_000, 1_000]),
        ({"c500": 2}, [0, 1_000, 0, 0, -1_000, -1_000]),
        ({"c500": -2, "c1000": 1}, [0, 0, 0, 0, 0, 0]),
        ({"cash": -70, "foreign": 100, "c5": -1}, [-70, -5, 100, -30, 5, 5]),
    ],
    ids=["cash", "cash over", "foreign", "foreign over", "chips", "chips over", "other chips", "all"],
)
def test_a_difference_is_posted_when_a_manager_signs_it_off(
    vault: Vault, more: dict[str, int], moved: list[int]
) -> None:
    before = vault.books()
    found = vault.both(**more)
    assert (found["state"], vault.books()) == ("counted", before)
    assert refusal(vault.count(vault.one)) == (409, "vault_count_counted")
    done = vault.manager.ok("vault/counts/1/sign-off", {"reason": "counted three times"})["vault_count"]
    assert (done["state"], done["over"]["cash"], done["over"]["foreign"]) == (
        "accepted", more.get("cash", 0), more.get("foreign", 0),
    )  # fmt: skip
    assert [now - then for now, then in zip(vault.books(), before, strict=True)] == moved
    assert vault.both()["over"] == {"cash": 0, "pieces": {}, "foreign": 0}
    vault.whole()


def test_nobody_learns_a_figure_before_two_have_counted(vault: Vault) -> None:
    figures = {"count", "over", "counts"}
    readers = [vault.one, vault.other, vault.manager, vault.kit.office(), vault.kit.office(Role.SURVEILLANCE)]

    def seen() -> set[str]:
        rows = [row for desk in readers for row in desk.get("vault/counts").json()["results"]]
        return {name for row in rows for name in row if name in figures}

    answers = [vault.count(vault.one, cash=-691), vault.count(vault.other, cash=-683)]
    assert [answer.json()["differs"] for answer in answers] == [False, True]
    for answer in answers:
        assert not figures & answer.json()["vault_count"].keys()
        assert not {"691", "683", str(vault.held()["cash"])} & figures_of(answer.text)
    assert seen() == set()
    for desk in (vault.one, vault.other):
        for path in ("audit/events", "reports/house", "ledger/accounts"):
            assert desk.get(path).status_code == 403
    found = vault.both(cash=-683)
    assert (found["state"], found["differing_rounds"], seen()) == ("counted", 1, figures)
    assert [(one["round"], one["over"]["cash"]) for one in found["counts"]] == [
        (1, -691),
        (1, -683),
        (2, -683),
        (2, -683),
    ]
    vault.whole()


def test_after_three_pairs_that_differ_a_supervisor_decides_and_a_manager_signs(vault: Vault) -> None:
    decision = vault.held(cash=-30) | {"reason": "a bundle had 97 notes"}
    for number in range(1, 4):
        assert vault.count(vault.one).status_code == 201
        assert refusal(vault.deputy.post("vault/counts/1/decide", decision)) == (409, "recount_needed")
        assert vault.count(vault.other, cash=-number).json()["differs"]
    assert refusal(vault.count(vault.one)) == (409, "supervisor_needed")
    assert refusal(vault.one.post("vault/counts/1/decide", decision)) == (403, "four_eyes")
    assert refusal(vault.manager.post("vault/counts/1/sign-off", {"reason": "known"})) == (409, "vault_count_counting")
    decided = vault.deputy.ok("vault/counts/1/decide", decision)["vault_count"]
    assert (decided["state"], decided["over"]["cash"]) == ("counted", -30)
    assert refusal(vault.deputy.post("vault/counts/1/sign-off", {"reason": "known"})) == (403, "four_eyes")
    vault.manager.ok("vault/counts/1/sign-off", {"reason": "the bank knows of it"})
    assert vault.kit.balance("5200/vault") == 30
    vault.whole()


def test_who_counts_does_neither_count_twice_nor_sign_off(vault: Vault) -> None:
    vault.count(vault.one, cash=-5)
    assert refusal(vault.count(vault.one, cash=-5)) == (403, "four_eyes")
    assert vault.count(vault.manager, cash=-5).json()["vault_count"]["state"] == "counted"
    assert refusal(vault.manager.post("vault/counts/1/sign-off", {"reason": "known"})) == (403, "four_eyes")
    assert refusal(vault.one.post("vault/counts/1/sign-off", {"reason": "known"})) == (403, "forbidden")
    assert refusal(vault.deputy.post("vault/counts/2/sign-off", {"reason": "known"})) == (404, "not_found")
    vault.deputy.ok("vault/counts/1/sign-off", {"reason": "known"})
    unknown = vault.held() | {"pieces": {"7": 1}}
    assert refusal(vault.one.post("vault/counts", unknown)) == (422, "unknown_denomination")
    assert refusal(vault.one.post("vault/counts", vault.held() | {"cash": -1})) == (400, "invalid_request")
    vault.whole()


def test_what_comes_and_goes_between_two_counts_is_in_both(vault: Vault) -> None:
    vault.count(vault.one, cash=-5)
    book(vault.kit.house, "command:skim", posting("drawer_skimmed", {"drawer": "C1"}, cash=2_000))
    found = vault.count(vault.other, cash=-5).json()
    assert (found["differs"], found["vault_count"]["over"]["cash"]) == (False, -5)
    # And what comes before it is signed off.
    book(vault.kit.house, "command:skim 2", posting("drawer_skimmed", {"drawer": "C1"}, cash=3_000))
    before = vault.kit.balance("1010")
    vault.manager.ok("vault/counts/1/sign-off", {"reason": "known"})
    assert (vault.kit.balance("1010"), vault.kit.balance("5200/vault")) == (before - 5, 5)
    vault.whole()


def test_two_first_counts_at_once_are_one_count(vault: Vault) -> None:
    body = vault.held()

    def count(desk: Desk) -> int:
        try:
            return desk.post("vault/counts", body).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(count, (vault.one, vault.other)))
    assert answers == [201, 201]
    [found] = VaultCount.objects.filter(house=vault.kit.house)
    assert (found.state, found.entries.count()) == ("accepted", 2)


def test_counts_stay_as_they_were_written(vault: Vault) -> None:
    vault.both(cash=-5)
    [found] = VaultCount.objects.filter(house=vault.kit.house)
    entry = VaultCountEntry.objects.filter(vault_count=found).latest("id")
    for alias in ("default", "owner"):
        for statement in (
            f"UPDATE cage_vaultcount SET over = '{{}}' WHERE id = {found.pk}",
            f"DELETE FROM cage_vaultcount WHERE id = {found.pk}",
            f"UPDATE cage_vaultcountentry SET over = '{{}}' WHERE id = {entry.pk}",
            f"INSERT INTO cage_vaultcount (house_id, number, state, differing_rounds, decision, reason) "
            f"VALUES ('{vault.kit.house.id}', 2, 'counting', 0, '', '')",
        ):
            with (
                pytest.raises(Exception, match=r"keeps its|permission denied|append|vault_count_one_open"),
                transaction.atomic(using=alias),
                connections[alias].cursor() as cursor,
            ):
                cursor.execute(statement)


# --- What refusals say ----------------------------------------------------------------------------------------------


def test_no_refusal_says_what_the_vault_holds_to_those_who_count_it(vault: Vault) -> None:
    kit, held = vault.kit, vault.held()
    bag = {"way": "to_bank", "bag": "B-1", "amount": 10**12}
    answers = [vault.one.post("vault/bags", bag, headers=kit.approval(vault.one, "vault/bags", bag))]
    supervisor = kit.supervisor()
    offers = (
        {"cash": 10**12, "pieces": {}},
        {"cash": 0, "pieces": {"500": 10**9}},
        {"cash": 0, "pieces": {"1": 10**6}},
    )
    answers += [supervisor.post("handovers", {"kind": "replenishment"} | offer) for offer in offers]
    figures = {str(held["cash"]), str(sum(int(value) * count for value, count in held["pieces"].items()))}
    figures |= {f"{held['cash']:,}"} | {f'"{value}":{count}' for value, count in held["pieces"].items()}
    for answer in answers:
        assert answer.status_code == 409 and answer.json()["code"] in ("insufficient_funds", "no_exact_change")
        assert not {"available", "required"} & answer.json().keys()
        assert not {one for one in figures if one in answer.text.replace(" ", "")}, answer.text


def test_a_refusal_names_what_is_there_to_a_manager_who_reads_the_books(vault: Vault) -> None:
    answer = vault.kit.supervisor(role=Role.MANAGER).post(
        "handovers", {"kind": "replenishment", "cash": 10**12, "pieces": {}}
    )
    assert refusal(answer) == (409, "insufficient_funds")
    assert (answer.json()["account"], answer.json()["available"]) == ("1010", vault.held()["cash"])


# --- Counts that were signed and wrong -------------------------------------------------------------------------------


def test_a_signed_count_that_was_wrong_is_corrected_by_a_count_of_the_vault(vault: Vault) -> None:
    """The drawer was signed with two chips more than it had: the vault lacks them, and its count names the shift."""
    kit = vault.kit
    kit.close_drawer(kit.cashier())
    slip = kit.office().get("drawers/C1/shifts/1/z").json()
    vault.both(c500=-2)
    sign = {"reason": "the cashier has counted a bar of eight as ten"}
    corrects = {"drawer": "C1", "count": 1}
    path = "vault/counts/1/sign-off"
    assert refusal(vault.manager.post(path, sign | {"corrects": corrects | {"count": 2}})) == (404, "not_found")
    assert refusal(vault.manager.post(path, sign | {"corrects": {"count": 1}})) == (422, "corrects_nothing")
    done = vault.manager.ok(path, sign | {"corrects": corrects})["vault_count"]
    assert (done["corrects"], done["over"]["pieces"]) == (corrects, {"500": -2})
    assert kit.balance("5210/vault") == 1_000
    # The shift stays as it was signed; its slip names the count that has found it wrong.
    assert kit.office().get("drawers/C1/shifts/1/z").json() == slip | {"corrected_by": 1}
    assert slip["corrected_by"] is None
    vault.both(c500=1)
    again = vault.manager.post("vault/counts/2/sign-off", sign | {"corrects": corrects})
    assert refusal(again) == (409, "already_corrected")
    # A count of the vault was wrong too.
    wrong = {"corrects": {"count": 1}}
    assert vault.manager.ok("vault/counts/2/sign-off", sign | wrong)["vault_count"]["corrects"] == {
        "drawer": None, "count": 1,
    }  # fmt: skip
    rows = kit.office().get("vault/counts").json()["results"]
    assert [row["corrects"] for row in rows] == [corrects, {"drawer": None, "count": 1}]
    vault.whole()


def test_what_was_not_in_the_vault_is_not_corrected_there(vault: Vault) -> None:
    kit = vault.kit
    vault.count(vault.one, cash=-5)
    kit.close_drawer(kit.cashier())
    vault.count(vault.other, cash=-5)
    corrects = {"reason": "late", "corrects": {"drawer": "C1", "count": 1}}
    assert refusal(vault.manager.post("vault/counts/1/sign-off", corrects)) == (422, "corrects_nothing")
