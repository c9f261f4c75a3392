"""What makes a player one to look at: transactions that reach the house's threshold, and much play without cash.

Much play is what was staked in a gaming day beyond five times the threshold, of a player without any cash paid in on
it: the chips have come from somebody else."""

from collections.abc import Mapping, Set
from datetime import datetime

from casino.bookkeeping.flows import Direction
from casino.reports.frame.filters import DayRange
from casino.reports.frame.flows import Points, said, transactions
from casino.reports.frame.movements import events
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import DaysOfEvents, at

#: How many times the threshold is much play.
MUCH = 5


def reached(scope: Scope) -> Set[str]:
    """Players of whom one transaction came to the threshold of its moment, in the days that a run asks for."""
    points, days = Points(scope), DayRange.of(scope)
    return {
        flow.who
        for flow in transactions(scope, days)
        if flow.who and flow.means != "attributed" and days.takes(flow.day)
        and flow.amount >= points.at(flow.at)["identity_from"]
    }  # fmt: skip


def reached_by_events(scope: Scope) -> Set[str]:
    """The same by what the events say."""
    points, days, range_ = Points(scope), DaysOfEvents(scope), DayRange.of(scope)
    return {
        one.who
        for one in said(scope, range_)
        if one.who and not one.kind.startswith("chips.") and range_.takes(one.for_day or days.of(one.event))
        and one.amount >= points.at(one.at)["identity_from"]
    }  # fmt: skip


def plays_without_cash(scope: Scope, staked: Mapping[tuple[str, str], int]) -> Set[str]:
    """Players with much play without cash in one of the days that a run asks for, by the threshold of its opening;
    `staked`: what each has staked, by player and day."""
    points, opened = Points(scope), _openings(scope)
    paid = {
        (flow.who, flow.day)
        for flow in transactions(scope, DayRange.of(scope))
        if flow.is_cash and flow.direction == Direction.IN and flow.amount > 0
    }
    return {
        player
        for (player, day), amount in staked.items()
        if (player, day) not in paid and day in opened
        and amount > MUCH * points.at(opened[day])["identity_from"]
    }  # fmt: skip


def _openings(scope: Scope) -> dict[str, datetime]:
    """When each gaming day that a run asks for was opened."""
    days = DayRange.of(scope)
    found = {doc["data"]["day"]: at(doc) for *_, doc in events(scope, ("day.opened",), days)}
    return {day: moment for day, moment in found.items() if days.takes(day)}
