"""What `make ha` takes for a violation: tried without a cluster, because a trial that overlooks one proves nothing."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

from deploy.demo.client import Connection
from tests.ha import __main__ as ha
from tests.ha import journal as journals
from tests.ha import programs, trials
from tests.ha.journal import Journal, longest_gap

KEYED = {"Idempotency-Key": "k"}
RECEIPT = {"audit": {"chain": "table/T1", "seq": 7, "hash": "ab"}}


@pytest.mark.parametrize(
    ("status", "headers", "answer", "wrong"),
    [
        (200, {}, RECEIPT, 0),
        (503, {"Retry-After": "1"}, {"code": "database_unavailable"}, 0),
        (503, {"Retry-After": "1"}, {"code": "outcome_unknown"}, 0),
        (503, {}, {"code": "database_unavailable"}, 1),
        (500, {"Retry-After": "1"}, {"code": "server_error"}, 1),
        (502, {}, None, 1),
        (409, {}, {"code": "approval_required"}, 0),
        (409, {}, {"code": "not_in_the_log_yet"}, 0),
        (409, {}, {"code": "hand_in_progress"}, 1),
    ],
)
def test_clients_may_see_success_and_503_that_says_when_to_try_again(
    status: int, headers: dict[str, str], answer: Any, wrong: int
) -> None:
    journal = Journal()
    journal.note(status, headers, answer, KEYED)
    assert len(journal.wrong) == wrong
    assert [(one.key, one.chain, one.seq, one.leaf_hash) for one in journal.acknowledged] == (
        [("k", "table/T1", 7, "ab")] if status == 200 else []
    )


def test_an_answer_that_does_not_come_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Connection("http://127.0.0.1:1")
    before = Connection._exchange
    with journals.kept() as journal, pytest.raises(ConnectionRefusedError):
        client._exchange("GET", "house/status", None, {})
    [wrong] = journal.wrong
    assert wrong.startswith("no answer: ConnectionRefusedError")
    assert journal.saw(0, time.monotonic()) == {"no answer (ConnectionRefusedError)": 1}
    assert Connection._exchange is before


def test_a_pause_counts_from_the_fault_and_to_the_end_of_the_trial() -> None:
    assert longest_gap([1.0, 2.0, 9.0], 0.0, 10.0) == 7.0
    assert longest_gap([1.0], 0.0, 10.0) == 9.0
    assert longest_gap([], 0.0, 10.0) == 10.0


@pytest.mark.parametrize(
    ("writes", "lost", "lost_inserts", "pause", "violations", "missed"),
    [
        (9, 0, 0, 9.0, 0, 0),
        (9, 1, 0, 9.0, 1, 0),
        (9, 0, 1, 9.0, 1, 0),
        (0, 0, 0, 9.0, 1, 0),
        (9, 0, 0, 11.0, 0, 1),
        (9, 0, 0, 31.0, 1, 1),
    ],
)
def test_a_loss_and_a_long_pause_are_violations(
    writes: int, lost: int, lost_inserts: int, pause: float, violations: int, missed: int
) -> None:
    frozen = trials.Trial("a standby frozen", trials.standby_frozen, wanted=10.0)
    result = ha.Result(frozen, writes, 9, lost, lost_inserts, pause, pause, Counter(), "another standby after 9 s")
    assert (len(result.violations()), len(result.missed())) == (violations, missed)


def test_without_its_programs_it_is_skipped_and_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nothing() -> programs.Programs:
        raise programs.Missing("etcd-server is not installed and cannot be unpacked: apt-get is missing")

    monkeypatch.setattr(programs, "all_found", nothing)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert ha.main([]) == 0
    assert capsys.readouterr().out.startswith("ha: skipped: etcd-server is not installed")
