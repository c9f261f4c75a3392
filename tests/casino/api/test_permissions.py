"""Who may do what: every operation of the urlconf against every role. A route without an entry here fails."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import pytest
from django.db import connections
from django.urls import resolve
from pytest_django.plugin import DjangoDbBlocker
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.test import APIRequestFactory, force_authenticate

from casino.api.http.operations import ReadOperation, WriteOperation, signed_in
from casino.api.http.permissions import DenyAll, HasRole, SealedFromOthers
from casino.api.seat import HasSeat, holder_of
from casino.audit.models import Event, SignedCheckpoint
from casino.staff import rights
from casino.staff.models import Role, Staff, TerminalKind, TerminalToken
from casino.staff.services import enrol_terminal
from casino.urls import v1
from tests.casino.devices import Device, device
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_recorded, last_event, recorded_since

EVERYBODY = frozenset(Role)
TABLES = frozenset({Role.DEALER, Role.FLOOR})
CAGE = frozenset({Role.CASHIER, Role.CAGE_SUPERVISOR})
#: Who holds a drawer.
CASHIERS = frozenset({Role.CASHIER})
#: Who counts out what leaves the vault, and signs what cashiers count.
SUPERVISION = frozenset({Role.CAGE_SUPERVISOR, Role.MANAGER})
#: Those who count boxes, the compliance officer, the delegate and the administrator see nothing of the play.
PLAY = EVERYBODY - {Role.COUNT, Role.COMPLIANCE, Role.DELEGATE, Role.ADMIN}
ADMIN = frozenset({Role.ADMIN})
AUDITOR = frozenset({Role.AUDITOR})
MANAGER = frozenset({Role.MANAGER})
OVERSIGHT = frozenset({Role.AUDITOR, Role.ADMIN})
BOOKS = frozenset({Role.AUDITOR, Role.MANAGER})
#: Who may read one report of the catalogue or another; which ones is checked with each (`reports/test_runs.py`).
SOME_REPORTS = BOOKS | {Role.FLOOR, Role.CAGE_SUPERVISOR, Role.COUNT, Role.COMPLIANCE, Role.DELEGATE, Role.ADMIN}
#: Who may see what is in a drawer.
DRAWERS = PLAY - {Role.DEALER}

#: Who may follow what happens; dealers and cashiers only at their own place (`test_streams.py`).
FOLLOWING = frozenset({Role.FLOOR, Role.MANAGER, Role.SURVEILLANCE, Role.AUDITOR, Role.ADMIN})
#: Who asks for approvals, and who decides them.
DECIDERS = frozenset({Role.CAGE_SUPERVISOR, Role.COMPLIANCE, Role.MANAGER, Role.AUDITOR})
ASKERS = frozenset({
    Role.DEALER, Role.FLOOR, Role.CASHIER, Role.CAGE_SUPERVISOR, Role.COMPLIANCE, Role.MANAGER, Role.ADMIN,
})  # fmt: skip
#: Who decides on counts that differ and shares tips; who decides on a transfer at a drawer.
SUPERVISORS = frozenset({Role.CAGE_SUPERVISOR, Role.MANAGER})
AT_A_DRAWER = frozenset({Role.FLOOR, Role.CAGE_SUPERVISOR})

#: Routes that take anybody, signed in or not.
OPEN = {
    ("GET", "schema"),
    ("GET", "docs"),
    ("POST", "sign-in"),
    ("POST", "sign-in/challenge"),
    ("GET", "receipts/<slug:hash>"),
}
#: Routes of players' own devices: the key of a seat, and no member of staff.
SEAT = {
    ("GET", "seat/deal"), ("POST", "seat/commitment"), ("POST", "seat/seed"), ("GET", "seat/hand"),
    ("POST", "seat/actions"), ("POST", "seat/device"), ("GET", "seat/table"), ("GET", "seat/rules"),
    ("GET", "seat/hands"), ("GET", "seat/hands/<slug:hand>/replay"),
    ("GET", "seat/proofs/inclusion"), ("POST", "seat/prints"), ("GET", "seat/prints/<int:printout>/file"),
}  # fmt: skip
#: Who prints something of what was recorded: everybody but the administrator, surveillance and the
#: delegate of the staff.
PRINTERS = frozenset(Role) - {Role.ADMIN, Role.DELEGATE, Role.SURVEILLANCE}
#: Who hears what a player wishes.
HEARS = frozenset({Role.FLOOR, Role.CAGE_SUPERVISOR, Role.COMPLIANCE})
#: Who may do what at all other routes. Writing it down twice, here and at the view, is the point.
MATRIX = {
    ("POST", "sign-out"): EVERYBODY,
    ("POST", "reauthenticate"): EVERYBODY,
    ("GET", "house"): EVERYBODY,
    ("GET", "session"): EVERYBODY,
    ("GET", "sessions"): EVERYBODY,
    ("POST", "sessions/end"): EVERYBODY,
    ("GET", "house/rules"): frozenset(Role),
    ("GET", "house/rules/<int:rules>"): frozenset(Role),
    ("POST", "house/rules"): ADMIN,
    ("GET", "house/identity"): EVERYBODY,
    ("GET", "house/status"): OVERSIGHT | {Role.FLOOR, Role.CAGE_SUPERVISOR, Role.SURVEILLANCE, Role.MANAGER},
    ("POST", "house/identity"): ADMIN,
    ("POST", "house/reset"): frozenset({Role.ADMIN}),
    ("GET", "rehearsals"): OVERSIGHT | {Role.MANAGER},
    ("POST", "rehearsals"): frozenset({Role.ADMIN}),
    ("GET", "rehearsals/<int:rehearsal>"): OVERSIGHT | {Role.MANAGER},
    ("POST", "rehearsals/<int:rehearsal>/cancel"): frozenset({Role.ADMIN}),
    ("GET", "house/readiness"): OVERSIGHT | {Role.MANAGER},
    ("POST", "house/go-live"): OVERSIGHT | {Role.MANAGER},
    ("POST", "house/suspend"): MANAGER,
    ("POST", "house/resume"): MANAGER,
    ("POST", "house/close"): MANAGER,
    ("GET", "games"): EVERYBODY,
    ("GET", "games/<path:game>"): EVERYBODY,
    ("GET", "tables"): EVERYBODY,
    ("GET", "tables/<slug:table>"): PLAY | ADMIN,
    ("POST", "tables/<slug:table>/open"): TABLES,
    ("POST", "tables/<slug:table>/close"): TABLES,
    ("POST", "tables/<slug:table>/dealer/take-over"): frozenset({Role.DEALER}),
    ("POST", "tables/<slug:table>/dealer/leave"): TABLES,
    ("GET", "dealers"): PLAY - CAGE,
    ("POST", "drawers/<slug:drawer>/reopen"): CASHIERS,
    ("GET", "table-terms"): EVERYBODY,
    ("GET", "dealer-turns"): PLAY - CAGE,
    ("GET", "waiting-list"): PLAY - CAGE,
    ("POST", "waiting-list"): TABLES,
    ("GET", "waiting-list/display"): EVERYBODY,
    ("POST", "waiting-list/<int:ticket>/call"): frozenset({Role.FLOOR}),
    ("POST", "waiting-list/<int:ticket>/no-show"): frozenset({Role.FLOOR}),
    ("POST", "waiting-list/<int:ticket>/remove"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/seats"): TABLES,
    ("POST", "tables/<slug:table>/seats/<int:seat>/chips"): TABLES,
    ("POST", "tables/<slug:table>/seats/<int:seat>/leave"): TABLES,
    ("POST", "tables/<slug:table>/seats/<int:seat>/change"): TABLES,
    ("POST", "tables/<slug:table>/seats/<int:seat>/move"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/seats/<int:seat>/key"): TABLES,
    ("POST", "tables/<slug:table>/seats/<int:seat>/key/revoke"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/client-seeds"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/time-to-act"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/device-play"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/hand/beside"): TABLES,
    ("POST", "tables/<slug:table>/seat-fee"): frozenset({Role.FLOOR}),
    ("GET", "tables/<slug:table>/deal"): PLAY,
    ("POST", "tables/<slug:table>/deal"): TABLES,
    ("POST", "tables/<slug:table>/deal/seeds"): TABLES,
    ("POST", "tables/<slug:table>/deal/close"): TABLES,
    ("POST", "tables/<slug:table>/deal/abandon"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/hands"): TABLES,
    ("GET", "tables/<slug:table>/hand"): PLAY,
    ("GET", "tables/<slug:table>/hand/legal-actions"): PLAY,
    ("POST", "tables/<slug:table>/hand/void"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/hand/bonus"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/hand/bonus/refuse"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/hand/dispute"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/hand/dispute/withdraw"): frozenset({Role.FLOOR, Role.MANAGER}),
    ("POST", "tables/<slug:table>/hand/ruling"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/hands/<slug:hand>/rulings"): frozenset({Role.FLOOR}),
    ("GET", "hands/<slug:hand>/rulings"): frozenset({Role.FLOOR, Role.MANAGER, Role.AUDITOR, Role.SURVEILLANCE}),
    ("GET", "hands/<slug:hand>/readings"): frozenset({Role.FLOOR, Role.MANAGER, Role.AUDITOR, Role.SURVEILLANCE}),
    ("GET", "hands/<slug:hand>/replay"): frozenset({Role.FLOOR, Role.MANAGER, Role.AUDITOR, Role.SURVEILLANCE}),
    ("POST", "tables/<slug:table>/hand/actions"): TABLES,
    ("POST", "tables/<slug:table>/hand/cards"): TABLES,
    ("POST", "tables/<slug:table>/hand/corrections"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/deck-check"): TABLES,
    ("POST", "tables/<slug:table>/exceptions/<int:exception>/clear"): frozenset({Role.FLOOR}),
    ("GET", "exceptions/cards"): PLAY - CAGE,
    ("GET", "players"): PLAY | {Role.COMPLIANCE},
    ("POST", "players/register"): CAGE,
    ("POST", "chip-sets"): ADMIN,
    ("GET", "chip-sets"): EVERYBODY,
    ("POST", "chip-sets/<slug:chip_set>/use"): ADMIN,
    ("POST", "chip-sets/<slug:chip_set>/lapse"): frozenset({Role.CAGE_SUPERVISOR}),
    ("POST", "chip-sets/<slug:chip_set>/retire"): ADMIN,
    ("POST", "drawers/<slug:drawer>/redemptions"): CAGE,
    ("GET", "late-claims"): CAGE | BOOKS | {Role.COMPLIANCE, Role.SURVEILLANCE},
    ("POST", "drawers/<slug:drawer>/late-claims"): CAGE,
    ("POST", "vault/opening"): frozenset({Role.CAGE_SUPERVISOR}),
    ("POST", "drawers"): ADMIN,
    ("POST", "tables"): ADMIN,
    ("POST", "tables/<slug:table>/terms"): ADMIN,
    ("POST", "drawers/<slug:drawer>/template"): ADMIN,
    ("POST", "tables/<slug:table>/template"): ADMIN,
    ("GET", "templates"): ADMIN | {Role.CAGE_SUPERVISOR, Role.MANAGER, Role.AUDITOR},
    ("GET", "templates/proposals"): frozenset({Role.CAGE_SUPERVISOR, Role.MANAGER, Role.AUDITOR}),
    ("GET", "tables/<slug:table>/fill-proposal/<slug:drawer>"): CAGE | BOOKS | {Role.SURVEILLANCE},
    ("POST", "drawers/<slug:drawer>/retire"): ADMIN,
    ("POST", "tables/<slug:table>/retire"): ADMIN,
    ("POST", "tables/<slug:table>/tray"): frozenset({Role.CAGE_SUPERVISOR}),
    ("GET", "players/<slug:player>/person"): CAGE | {Role.COMPLIANCE},
    ("POST", "players/<slug:player>/person"): CAGE | {Role.COMPLIANCE},
    ("GET", "players/<slug:player>/personal-data"): frozenset({Role.COMPLIANCE}),
    ("GET", "players/<slug:player>/personal-data/file"): frozenset({Role.COMPLIANCE}),
    ("POST", "players/<slug:player>/forget"): frozenset({Role.COMPLIANCE}),
    ("GET", "exclusions"): frozenset({Role.COMPLIANCE}),
    ("POST", "exclusions"): frozenset({Role.COMPLIANCE}),
    ("POST", "exclusions/<int:exclusion>/matches/<slug:player>/clear"): frozenset({Role.COMPLIANCE}),
    ("POST", "exclusions/<int:exclusion>/lift-request"): HEARS,
    ("POST", "exclusions/<int:exclusion>/lift"): frozenset({Role.COMPLIANCE}),
    ("POST", "players/<slug:player>/exclusions"): HEARS,
    ("POST", "players/<slug:player>/minor"): frozenset({Role.COMPLIANCE, Role.MANAGER}),
    ("GET", "minors"): frozenset({Role.COMPLIANCE, Role.MANAGER, Role.AUDITOR}),
    ("GET", "minors/<int:minor>"): frozenset({Role.COMPLIANCE, Role.MANAGER, Role.AUDITOR}) | CAGE,
    ("POST", "minors/<int:minor>/settlement"): frozenset({Role.COMPLIANCE}),
    ("POST", "minors/<int:minor>/clear"): frozenset({Role.COMPLIANCE}),
    ("GET", "minors/remittances"): frozenset({Role.COMPLIANCE, Role.MANAGER, Role.AUDITOR}),
    ("POST", "minors/remittances"): frozenset({Role.COMPLIANCE}),
    ("GET", "players/<slug:player>/admission"): (
        TABLES | CAGE | MANAGER | frozenset({Role.SURVEILLANCE, Role.COMPLIANCE})
    ),
    ("POST", "players/<slug:player>/admission"): CAGE | {Role.FLOOR},
    ("GET", "players/<slug:player>/limits"): HEARS | CASHIERS,
    ("POST", "players/<slug:player>/limits"): HEARS | CASHIERS,
    ("GET", "player-limits"): frozenset({Role.COMPLIANCE}),
    ("POST", "players/<slug:player>/interactions"): HEARS | CASHIERS,
    ("GET", "interactions"): frozenset({Role.COMPLIANCE}),
    ("GET", "unknown-persons"): HEARS | CASHIERS,
    ("POST", "unknown-persons"): HEARS | CASHIERS,
    ("GET", "unknown-persons/<int:unknown_person>"): HEARS | CASHIERS,
    ("POST", "unknown-persons/<int:unknown_person>/identify"): frozenset({Role.CAGE_SUPERVISOR, Role.COMPLIANCE}),
    ("GET", "transaction-log"): frozenset({Role.CAGE_SUPERVISOR, Role.COMPLIANCE}),
    ("POST", "transaction-log"): HEARS | CASHIERS,
    ("POST", "transaction-log/<int:line>/withdraw"): frozenset({Role.CAGE_SUPERVISOR, Role.COMPLIANCE}),
    ("GET", "filings"): frozenset({Role.COMPLIANCE}),
    ("POST", "filings"): frozenset({Role.COMPLIANCE}),
    ("GET", "euro-rates"): BOOKS | {Role.COMPLIANCE},
    ("POST", "euro-rates"): MANAGER,
    ("GET", "reality-checks/due"): MANAGER | frozenset({Role.FLOOR, Role.COMPLIANCE, Role.DEALER}),
    ("GET", "reality-checks"): MANAGER | frozenset({Role.FLOOR, Role.COMPLIANCE}),
    ("GET", "drawers"): DRAWERS,
    ("GET", "shifts"): DRAWERS,
    ("GET", "drawers/<slug:drawer>"): DRAWERS,
    ("POST", "drawers/<slug:drawer>/open"): CASHIERS,
    ("POST", "drawers/<slug:drawer>/buy-ins"): CAGE,
    ("POST", "drawers/<slug:drawer>/cash-outs"): CAGE,
    ("GET", "handovers"): BOOKS | SUPERVISION,
    ("POST", "drawers/<slug:drawer>/handovers"): CASHIERS | SUPERVISION,
    ("POST", "drawers/<slug:drawer>/handovers/<int:handover>/sign"): frozenset({Role.MANAGER}),
    ("POST", "drawers/<slug:drawer>/handovers/<int:handover>/take"): CASHIERS | SUPERVISION,
    ("POST", "drawers/<slug:drawer>/handovers/<int:handover>/withdraw"): CASHIERS | SUPERVISION,
    ("POST", "drawers/<slug:drawer>/count"): CASHIERS,
    ("POST", "drawers/<slug:drawer>/recount"): frozenset({Role.CAGE_SUPERVISOR}),
    ("POST", "drawers/<slug:drawer>/close"): CASHIERS | SUPERVISION,
    ("POST", "drawers/<slug:drawer>/sign-off"): SUPERVISION,
    ("GET", "duty/rates"): SUPERVISION | OVERSIGHT,
    ("POST", "duty/rates"): ADMIN,
    ("POST", "duty/payments"): SUPERVISION,
    ("POST", "duty/lowerings"): SUPERVISION,
    ("GET", "variance-offsets"): SUPERVISION | {Role.SURVEILLANCE, Role.AUDITOR},
    ("POST", "variance-offsets"): frozenset({Role.MANAGER}),
    ("POST", "drawers/<slug:drawer>/hand-over"): CASHIERS | SUPERVISION,
    ("POST", "drawers/<slug:drawer>/take-over"): CASHIERS,
    ("POST", "drawers/<slug:drawer>/x-readings"): SUPERVISION | {Role.AUDITOR},
    ("GET", "drawers/<slug:drawer>/shifts/<int:shift>/z"): CAGE | BOOKS,
    ("POST", "tables/<slug:table>/fills"): TABLES,
    ("POST", "tables/<slug:table>/fills/<int:fill>/receive"): frozenset({Role.DEALER}),
    ("POST", "tables/<slug:table>/fills/<int:fill>/accept-with-variance"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/fills/<int:fill>/decline"): TABLES,
    ("POST", "tables/<slug:table>/fills/<int:fill>/cancel"): TABLES,
    ("POST", "tables/<slug:table>/credits"): TABLES,
    ("POST", "tables/<slug:table>/credits/<int:credit>/send"): TABLES,
    ("POST", "tables/<slug:table>/credits/<int:credit>/cancel"): TABLES,
    ("POST", "drawers/<slug:drawer>/fills"): CAGE,
    ("POST", "drawers/<slug:drawer>/fills/<int:fill>/send"): CAGE,
    ("POST", "drawers/<slug:drawer>/fills/<int:fill>/cancel"): CAGE | AT_A_DRAWER,
    ("POST", "drawers/<slug:drawer>/credits"): CAGE,
    ("POST", "drawers/<slug:drawer>/credits/<int:credit>/receive"): CAGE,
    ("POST", "drawers/<slug:drawer>/credits/<int:credit>/accept-with-variance"): AT_A_DRAWER,
    ("POST", "drawers/<slug:drawer>/credits/<int:credit>/decline"): CAGE | AT_A_DRAWER,
    ("POST", "drawers/<slug:drawer>/credits/<int:credit>/cancel"): CAGE | AT_A_DRAWER,
    ("GET", "transfers"): PLAY,
    ("GET", "tables/<slug:table>/chips"): BOOKS | {Role.SURVEILLANCE},
    ("POST", "tables/<slug:table>/boxes"): TABLES,
    ("POST", "tables/<slug:table>/tray-counts"): frozenset({Role.DEALER}),
    ("POST", "tables/<slug:table>/tray-counts/<int:count>/witness"): frozenset({Role.FLOOR}),
    ("GET", "tray-counts"): BOOKS | {Role.FLOOR, Role.SURVEILLANCE},
    ("GET", "boxes"): BOOKS | {Role.FLOOR, Role.COUNT, Role.CAGE_SUPERVISOR, Role.SURVEILLANCE},
    ("POST", "boxes/<int:box>/bring"): frozenset({Role.COUNT}),
    ("POST", "boxes/<int:box>/counts"): frozenset({Role.COUNT}),
    ("POST", "boxes/<int:box>/decide"): SUPERVISORS,
    ("POST", "boxes/<int:box>/receive"): frozenset({Role.CAGE_SUPERVISOR}),
    ("GET", "chip-moves"): BOOKS | {Role.COUNT, Role.CAGE_SUPERVISOR, Role.SURVEILLANCE},
    ("POST", "chip-moves"): frozenset({Role.CAGE_SUPERVISOR}),
    ("POST", "chip-moves/<int:move>/counts"): frozenset({Role.CAGE_SUPERVISOR, Role.COUNT}),
    ("POST", "chip-moves/<int:move>/accept"): MANAGER,
    ("GET", "vault/counts"): BOOKS | SUPERVISION | {Role.SURVEILLANCE},
    ("POST", "vault/counts"): SUPERVISION,
    ("POST", "vault/counts/<int:vault_count>/decide"): SUPERVISION,
    ("POST", "vault/counts/<int:vault_count>/sign-off"): MANAGER,
    ("POST", "tables/<slug:table>/counterfeits"): TABLES,
    ("POST", "drawers/<slug:drawer>/counterfeits"): CAGE,
    ("POST", "vault/counterfeits"): frozenset({Role.CAGE_SUPERVISOR}),
    ("GET", "vault/bags"): BOOKS | SUPERVISION | {Role.SURVEILLANCE},
    ("POST", "vault/bags"): frozenset({Role.CAGE_SUPERVISOR}),
    ("POST", "vault/bags/<int:bag>/confirm"): frozenset({Role.CAGE_SUPERVISOR}),
    ("POST", "vault/bags/<int:bag>/receive"): frozenset({Role.CAGE_SUPERVISOR}),
    ("POST", "vault/foreign-chips"): frozenset({Role.CAGE_SUPERVISOR}),
    ("GET", "tronc/pools"): BOOKS | CAGE,
    ("POST", "capital/payments-in"): MANAGER,
    ("POST", "capital/payments-out"): MANAGER,
    ("POST", "tronc/share"): SUPERVISORS,
    ("POST", "drawers/<slug:drawer>/tronc-shares"): CASHIERS,
    ("POST", "tables/<slug:table>/buy-ins"): TABLES,
    ("POST", "tables/<slug:table>/exchanges"): TABLES,
    ("POST", "tables/<slug:table>/tips"): TABLES,
    ("POST", "drawers/<slug:drawer>/exchanges"): CAGE,
    ("POST", "drawers/<slug:drawer>/foreign-chips"): CAGE,
    ("POST", "drawers/<slug:drawer>/corrections"): frozenset({Role.CAGE_SUPERVISOR}),
    ("POST", "drawers/<slug:drawer>/bearer-buy-ins"): CAGE,
    ("POST", "drawers/<slug:drawer>/bearer-cash-outs"): CAGE,
    ("GET", "announced-cash-outs"): CAGE | BOOKS,
    ("POST", "drawers/<slug:drawer>/announced-cash-outs"): CAGE,
    ("POST", "drawers/<slug:drawer>/announced-cash-outs/<int:announcement>/withdraw"): CAGE,
    ("GET", "found-chips"): CAGE | BOOKS | {Role.FLOOR, Role.COMPLIANCE, Role.SURVEILLANCE},
    ("POST", "found-chips/<int:found>/remit"): MANAGER,
    ("POST", "found-chips/<int:found>/keep"): MANAGER,
    ("POST", "drawers/<slug:drawer>/found-chips"): CAGE,
    ("POST", "drawers/<slug:drawer>/found-chips/<int:found>/claim"): CAGE,
    ("GET", "noncash-buy-ins"): CAGE | BOOKS | {Role.COMPLIANCE},
    ("POST", "noncash-buy-ins/settle"): SUPERVISION,
    ("POST", "drawers/<slug:drawer>/noncash-buy-ins"): CAGE,
    ("POST", "drawers/<slug:drawer>/noncash-payments"): CAGE,
    ("GET", "held-payouts"): CAGE | BOOKS | {Role.COMPLIANCE},
    ("POST", "held-payouts/<int:payout>/pay-by-bank"): frozenset({Role.CAGE_SUPERVISOR}),
    ("POST", "drawers/<slug:drawer>/held-payouts"): CAGE,
    ("POST", "drawers/<slug:drawer>/held-payouts/<int:payout>/release"): CAGE,
    ("POST", "drawers/<slug:drawer>/table-fees"): CAGE,
    ("GET", "players/<slug:player>/sums"): CAGE | {Role.COMPLIANCE},
    ("GET", "deposits"): CAGE | BOOKS | {Role.COMPLIANCE},
    ("POST", "drawers/<slug:drawer>/deposits"): CAGE,
    ("POST", "drawers/<slug:drawer>/deposits/draw"): CAGE,
    ("POST", "drawers/<slug:drawer>/deposits/return"): CAGE,
    ("POST", "players/<slug:player>/attributions"): frozenset({Role.COMPLIANCE}),
    ("POST", "players/<slug:player>/unattributions"): frozenset({Role.COMPLIANCE}),
    ("GET", "complaints"): BOOKS | {Role.FLOOR, Role.COMPLIANCE},
    ("POST", "complaints"): MANAGER | {Role.FLOOR, Role.COMPLIANCE},
    ("GET", "complaints/<int:complaint>"): BOOKS | {Role.FLOOR, Role.COMPLIANCE},
    ("POST", "complaints/<int:complaint>/answer"): MANAGER | {Role.COMPLIANCE},
    ("POST", "complaints/<int:complaint>/escalate"): MANAGER | {Role.FLOOR, Role.COMPLIANCE},
    ("POST", "complaints/<int:complaint>/close"): MANAGER | {Role.COMPLIANCE},
    ("GET", "legal-holds"): BOOKS | {Role.COMPLIANCE},
    ("POST", "legal-holds"): frozenset({Role.COMPLIANCE}),
    ("POST", "legal-holds/<int:legal_hold>/lift"): frozenset({Role.COMPLIANCE}),
    ("GET", "retention-runs"): BOOKS | {Role.COMPLIANCE},
    ("GET", "sealed"): frozenset({Role.COMPLIANCE}),
    ("POST", "sealed"): frozenset({Role.COMPLIANCE}),
    ("GET", "sealed/<int:sealed>"): frozenset({Role.COMPLIANCE}),
    ("GET", "sealed/<int:sealed>/file"): frozenset({Role.COMPLIANCE}),
    ("POST", "duty"): frozenset({Role.CAGE_SUPERVISOR}),
    ("GET", "approvals"): ASKERS | DECIDERS,
    ("GET", "approvals/<int:approval>"): ASKERS | DECIDERS,
    ("POST", "approvals/<int:approval>/approve"): DECIDERS,
    ("POST", "approvals/<int:approval>/challenge"): DECIDERS,
    ("POST", "approvals/<int:approval>/refuse"): DECIDERS,
    ("POST", "approvals/<int:approval>/withdraw"): ASKERS,
    ("GET", "limits"): ASKERS | DECIDERS,
    ("POST", "limits"): ADMIN,
    ("POST", "password"): EVERYBODY,
    ("POST", "pin"): EVERYBODY,
    ("GET", "passkeys"): EVERYBODY,
    ("POST", "passkeys"): EVERYBODY,
    ("POST", "passkeys/begin"): EVERYBODY,
    ("POST", "passkeys/challenge"): EVERYBODY,
    ("POST", "passkeys/<passkey:passkey>/remove"): EVERYBODY,
    ("POST", "second-factor"): EVERYBODY,
    ("POST", "second-factor/confirm"): EVERYBODY,
    ("POST", "staff/<login:login>/second-factor/reset"): ADMIN,
    ("GET", "staff"): OVERSIGHT | MANAGER,
    ("GET", "staff/on-duty"): OVERSIGHT | MANAGER | {Role.FLOOR, Role.CAGE_SUPERVISOR, Role.SURVEILLANCE},
    ("POST", "staff"): ADMIN,
    ("POST", "staff/<login:login>/roles"): ADMIN,
    ("POST", "staff/<login:login>/deactivate"): ADMIN,
    ("POST", "staff/<login:login>/activate"): ADMIN,
    ("POST", "staff/<login:login>/password"): ADMIN,
    ("POST", "staff/<login:login>/player"): ADMIN,
    ("POST", "staff/<login:login>/unlock"): ADMIN,
    ("GET", "rota"): EVERYBODY,
    ("POST", "rota"): ADMIN | MANAGER | {Role.FLOOR},
    ("POST", "rota/<int:entry>/withdraw"): ADMIN | MANAGER | {Role.FLOOR},
    ("GET", "terminals"): OVERSIGHT,
    ("POST", "terminals"): ADMIN,
    ("POST", "terminals/<slug:terminal>/revoke"): ADMIN,
    ("GET", "days"): BOOKS | {Role.FLOOR, Role.CAGE_SUPERVISOR},
    ("POST", "days"): MANAGER | {Role.FLOOR},
    ("GET", "days/<slug:day>"): BOOKS | {Role.FLOOR, Role.CAGE_SUPERVISOR},
    ("POST", "days/<slug:day>/close"): MANAGER,
    ("GET", "days/<slug:day>/package"): BOOKS,
    ("POST", "days/<slug:day>/package/sign"): {Role.AUDITOR},
    ("GET", "hands"): PLAY,
    ("GET", "hands/<slug:hand>"): BOOKS | {Role.FLOOR, Role.SURVEILLANCE},
    ("GET", "hands/<slug:hand>/openings"): PLAY,
    ("GET", "deals/<slug:hand>"): AUDITOR,
    ("GET", "audit/events"): AUDITOR,
    ("GET", "audit/checkpoint"): EVERYBODY,
    ("GET", "audit/checkpoints"): OVERSIGHT,
    ("GET", "audit/key"): EVERYBODY,
    ("GET", "audit/proofs/inclusion"): EVERYBODY,
    ("GET", "audit/proofs/consistency"): EVERYBODY,
    ("GET", "audit/export"): AUDITOR,
    ("GET", "audit/archives"): OVERSIGHT,
    ("GET", "audit/archives/<int:archive>/<str:name>"): AUDITOR,
    ("GET", "audit/log/<int:epoch>/checkpoint"): OVERSIGHT,
    ("GET", "audit/log/<int:epoch>/tile/<slug:level>/<path:tile>"): OVERSIGHT,
    ("GET", "tables/<slug:table>/stream"): FOLLOWING | {Role.DEALER},
    ("GET", "tables/<slug:table>/changes"): FOLLOWING | {Role.DEALER},
    ("GET", "drawers/<slug:drawer>/stream"): FOLLOWING | {Role.CAGE_SUPERVISOR, Role.CASHIER},
    ("GET", "drawers/<slug:drawer>/changes"): FOLLOWING | {Role.CAGE_SUPERVISOR, Role.CASHIER},
    ("GET", "stream"): FOLLOWING | {Role.CAGE_SUPERVISOR},
    ("GET", "changes"): FOLLOWING | {Role.CAGE_SUPERVISOR},
    ("GET", "ledger/accounts"): BOOKS,
    ("GET", "ledger/accounts/<path:account>/balance"): BOOKS,
    ("GET", "ledger/accounts/<path:account>/statement"): BOOKS,
    ("GET", "ledger/export/<slug:layout>"): BOOKS,
    ("GET", "reports"): SOME_REPORTS,
    ("POST", "reports/<slug:report>/runs"): SOME_REPORTS,
    ("GET", "report-runs"): SOME_REPORTS,
    ("GET", "report-runs/<int:run>"): SOME_REPORTS,
    ("POST", "report-runs/<int:run>/cancel"): SOME_REPORTS,
    ("GET", "report-runs/<int:run>/files/<str:name>"): SOME_REPORTS,
    ("GET", "prints"): BOOKS | {Role.CAGE_SUPERVISOR},
    ("POST", "prints/documents"): PRINTERS,
    ("POST", "prints/statements"): frozenset({Role.CASHIER, Role.CAGE_SUPERVISOR, Role.COMPLIANCE, Role.AUDITOR}),
    ("GET", "prints/<int:printout>/file"): PRINTERS,
    ("GET", "report-schedules"): BOOKS | {Role.ADMIN, Role.COMPLIANCE},
    ("POST", "report-schedules/<slug:schedule>"): BOOKS | {Role.ADMIN, Role.COMPLIANCE},
    ("GET", "report-deliveries"): BOOKS | {Role.ADMIN, Role.COMPLIANCE},
    ("GET", "webhooks"): frozenset({Role.ADMIN, Role.AUDITOR}),
    ("POST", "webhooks"): frozenset({Role.ADMIN}),
    ("POST", "webhooks/<int:webhook>/replay"): frozenset({Role.ADMIN}),
    ("POST", "webhooks/<int:webhook>/end"): frozenset({Role.ADMIN}),
    ("GET", "reports/house"): BOOKS | {Role.FLOOR},
    ("GET", "reports/players"): BOOKS | {Role.FLOOR, Role.COMPLIANCE},
    ("GET", "reports/hands"): BOOKS | {Role.FLOOR, Role.COMPLIANCE},
    ("GET", "reports/verification"): BOOKS,
    ("GET", "reports/deals"): BOOKS | {Role.FLOOR},
    ("GET", "reports/count-differences"): BOOKS,
}
#: Answers to allowed reads that are not 200: the house's only hand is being played with a pack of cards, nobody has
#: asked for an approval, and no tray has a template.
READS = {
    "hands/<slug:hand>": 409, "hands/<slug:hand>/openings": 409, "hands/<slug:hand>/rulings": 409,
    "hands/<slug:hand>/readings": 409,
    "tables/<slug:table>/deal": 409, "house/rules/<int:rules>": 404, "deals/<slug:hand>": 404,
    "approvals/<int:approval>": 404, "audit/archives/<int:archive>/<str:name>": 404,
    "drawers/<slug:drawer>/shifts/<int:shift>/z": 409, "days/<slug:day>/package": 409,
    "rehearsals/<int:rehearsal>": 404, "minors/<int:minor>": 404, "report-runs/<int:run>": 404,
    "unknown-persons/<int:unknown_person>": 404,
    "complaints/<int:complaint>": 404, "sealed/<int:sealed>": 404, "sealed/<int:sealed>/file": 404,
    "report-runs/<int:run>/files/<str:name>": 404, "prints/<int:printout>/file": 404,
    "tables/<slug:table>/fill-proposal/<slug:drawer>": 409,
}  # fmt: skip
#: Routes at which, for who may not use them, nothing is.
HIDDEN = {route for _, route in MATRIX if route.startswith("sealed")}
#: What dealers and cashiers follow where their terminal stands; in the office that is nothing.
AT_THEIR_PLACE = {Role.DEALER, Role.CASHIER}
FOLLOWED = {route for _, route in MATRIX if route.rpartition("/")[2] in ("stream", "changes")}
GUARDED = sorted(MATRIX)
IDS = [f"{method} {route}" for method, route in GUARDED]


def routes() -> dict[tuple[str, str], type]:
    """Every operation of /api/v1/ as (method, route), with its view."""
    found = {}
    for pattern in v1:
        view = pattern.callback.view_class
        for method in ("get", "post", "put", "patch", "delete"):
            if hasattr(view, method):
                found[method.upper(), str(pattern.pattern)] = view
    return found


DAY = "2020-02-29"
#: Who T1-u1 is.
PERSON = {"person": {"name": "Anna Kiss", "born": "1980-02-29", "document": "123456AB"}, "reason": "first_record"}


def address(route: str, house: Kit) -> str:
    """The route filled in with things that the test's house has."""
    first = SignedCheckpoint.objects.filter(house=house.house)[0]
    known = {
        "<slug:table>": "T1",
        "<passkey:passkey>": "0" * 64,
        "<path:game>": "ferbli/1",
        "<int:seat>": "1",
        "<int:ticket>": "1",
        "<int:epoch>": "1",
        "<int:archive>": "1",
        "<slug:level>": "0",
        "<path:tile>": "000.p/1",
        "<slug:drawer>": "C1",
        "<slug:hand>": "T1-000001",
        "<int:fill>": "1",
        "<int:credit>": "1",
        "<int:bag>": "1",
        "<int:box>": "1",
        "<int:move>": "1",
        "<slug:chip_set>": "MAIN",
        "<int:count>": "1",
        "<int:found>": "1",
        "<int:complaint>": "1",
        "<int:legal_hold>": "1",
        "<int:sealed>": "1",
        "<int:announcement>": "1",
        "<int:payout>": "1",
        "<int:vault_count>": "1",
        "<int:exception>": "1",
        "<int:exclusion>": "1",
        "<int:minor>": "1",
        "<int:rules>": "1",
        "<int:unknown_person>": "1",
        "<int:line>": "1",
        "<int:approval>": "1",
        "<int:entry>": "1",
        "<int:handover>": "1",
        "<int:shift>": "1",
        "<slug:day>": DAY,
        "<slug:report>": "chips",
        "<slug:schedule>": "nightly",
        "<int:rehearsal>": "1",
        "<int:webhook>": "1",
        "<int:run>": "1",
        "<int:printout>": "1",
        "<str:name>": "chips.csv",
        "<slug:layout>": "csv",
        "<slug:player>": "T1-u1",
        "proofs/inclusion": f"proofs/inclusion?chain=house/{house.house.code}&seq=1",
        "proofs/consistency": f"proofs/consistency?from_size={first.size}",
        "<login:login>": f"dealer1@{house.house.code}",
        "<slug:terminal>": "table-1",
        "<path:account>": "1010",
    }
    for name, value in known.items():
        route = route.replace(name, value)
    return f"/api/v1/{route}"


def is_poll(answer: httpx.Response) -> bool:
    """Whether a refusal is one of a read that may be polled and found nothing yet."""
    view = resolve(answer.request.url.path)
    names_nothing = not view.kwargs and not answer.request.url.query
    polled = answer.request.method == "GET" and not view.func.view_class.sensitive
    return polled and (answer.status_code == 409 or (answer.status_code == 404 and names_nothing))


@dataclass
class Counting(Kit):
    """A house whose refused attempts are counted by their codes: all refusals but those of a sender whom nobody knows,
    and of polls that find nothing yet."""

    refused: Counter[str] = field(default_factory=Counter)

    def http(self, token: str | None) -> httpx.Client:
        """A client whose refusals are counted."""
        client = super().http(token)
        client.event_hooks["response"].append(self._count)
        return client

    def _count(self, answer: httpx.Response) -> None:
        known = "Authorization" in answer.request.headers and answer.request.url.path != "/api/v1/sign-in"
        if answer.is_error and known and not is_poll(answer):
            answer.read()
            self.refused[answer.json()["code"]] += 1


@dataclass
class Standing:
    """A house with a hand in play, one person of each role at an office terminal, and a device with a seat's key."""

    kit: Counting
    desks: dict[Role, Desk]
    device: Device


@pytest.fixture(scope="module")
def standing(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Standing]:
    """The house of all these tests. In the end each of its refusals has a code and an event, and they are counted."""
    with django_db_blocker.unblock():
        kit = Counting.found()
        assert isinstance(kit, Counting)
        kit.table("T1")
        dealer = kit.seated("T1")
        dealer.ok("hands", {"mode": "physical"})
        own = device(kit, dealer, 1)
        kit.office(Role.FLOOR).ok("days", {"day": DAY})
        kit.cashier().ok("/api/v1/players/T1-u1/person", PERSON, version=1)
        kit.sequence()
        desks = {role: kit.office(role) for role in Role}
        connections.close_all()
    yield Standing(kit, desks, own)
    with django_db_blocker.unblock():
        kinds = Event.objects.filter(house=kit.house, doc__kind="attempt.refused")
        recorded = Counter(json.loads(payload)["data"]["code"] for payload in kinds.values_list("payload", flat=True))
        connections.close_all()
    print(f"\n{kit.refused.total()} attempts refused, {recorded.total()} events of them: {dict(recorded)}")
    assert kit.refused == recorded
    kit.close()


@pytest.fixture
def house(standing: Standing, live_db: None) -> Kit:
    """The module's house, with database access for this test."""
    return standing.kit


@pytest.fixture
def desks(standing: Standing, live_db: None) -> dict[Role, Desk]:
    """Office desks by role."""
    return standing.desks


def test_every_operation_of_the_urlconf_stands_in_the_matrix() -> None:
    assert routes().keys() == MATRIX.keys() | OPEN | SEAT


def test_the_review_of_rights_knows_whom_every_operation_takes() -> None:
    for (method, route), view in routes().items():
        operation = getattr(view, "operations", {}).get(method.lower())
        declared = frozenset() if operation is None else rights.roles_of(operation.id)
        assert declared == MATRIX.get((method, route), frozenset()), (method, route)


def test_every_view_says_whom_it_takes() -> None:
    for (method, route), view in routes().items():
        expected = [AllowAny] if (method, route) in OPEN else [HasSeat] if (method, route) in SEAT else [HasRole]
        if route in HIDDEN:
            expected = [SealedFromOthers]
        # The schema's views get theirs from the urlconf, all others say it themselves.
        pattern = next(pattern for pattern in v1 if str(pattern.pattern) == route)
        stated = pattern.callback.initkwargs.get("permission_classes", view.permission_classes)
        assert list(stated) == expected, route
        if (method, route) in MATRIX:
            readers = getattr(view, "readers", None) if method == "GET" else None
            assert frozenset(view.roles if readers is None else readers) == MATRIX[method, route], route


@pytest.mark.parametrize("operation", GUARDED, ids=IDS)
def test_each_role_is_let_in_or_kept_out(house: Kit, desks: dict[Role, Desk], operation: tuple[str, str]) -> None:
    method, route = operation
    for role, desk in desks.items():
        # Writes come without Idempotency-Key: who is let in gets as far as being recorded so, and changes nothing.
        http, last = house.office(role).http if route == "sign-out" else desk.http, last_event()
        answer = http.request(method, address(route, house))
        if answer.is_error:
            # A poll that finds nothing yet is no attempt.
            assert_recorded(last, answer, recorded=not is_poll(answer))
        if role in AT_THEIR_PLACE and route in FOLLOWED and role in MATRIX[operation]:
            assert (answer.status_code, answer.json()["code"]) == (403, "wrong_terminal"), (role, answer.text)
        elif role in MATRIX[operation]:
            reads = {READS.get(route, 200)}
            expected = reads if method == "GET" else {204} if route == "sign-out" else {400, 428}
            assert answer.status_code in expected, (role, answer.text)
        elif route in HIDDEN:
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), (role, answer.text)
        else:
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), (role, answer.text)
            assert set(answer.json()["allowed_roles"]) == MATRIX[operation]


@pytest.mark.parametrize("operation", GUARDED, ids=IDS)
def test_nobody_is_let_in_without_a_token(house: Kit, operation: tuple[str, str]) -> None:
    http, last = house.http(None), last_event()
    method, route = operation
    answer = http.request(method, address(route, house))
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    # Nor does any other method record anything before the token has been seen.
    for other in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
        assert http.request(other, address(route, house)).status_code == 401, other
    assert recorded_since(last) == [], "who sends it is not known, nor of which house"


@pytest.mark.parametrize("operation", GUARDED, ids=IDS)
def test_the_key_of_a_seat_opens_nothing_of_the_staffs(
    house: Kit, standing: Standing, operation: tuple[str, str]
) -> None:
    method, route = operation
    last = last_event()
    answer = standing.device.http.request(method, address(route, house))
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    assert_recorded(last, answer)
    [event] = recorded_since(last)
    assert (event["actor"], event["role"], event["chain"]) == ("T1-u1", "player", "table/T1")


@pytest.mark.parametrize("operation", sorted(SEAT), ids=[" ".join(operation) for operation in sorted(SEAT)])
def test_no_role_is_let_in_where_the_key_of_a_seat_is_needed(
    house: Kit, desks: dict[Role, Desk], operation: tuple[str, str]
) -> None:
    method, route = operation
    for role, desk in desks.items():
        last = last_event()
        answer = desk.http.request(method, address(route, house))
        assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated"), role
        assert_recorded(last, answer)
        [event] = recorded_since(last)
        assert event["actor"].startswith(role) and event["chain"] == house.house.chain


@pytest.mark.parametrize(
    ("method", "route", "status", "code"),
    [
        ("GET", "seat/deal", 409, "no_deal_prepared"), ("POST", "seat/commitment", 400, "invalid_request"),
        ("POST", "seat/seed", 400, "invalid_request"), ("GET", "seat/hand", 404, "not_found"),
        ("POST", "seat/actions", 400, "invalid_request"), ("POST", "seat/device", 400, "invalid_request"),
        ("GET", "seat/hands/<slug:hand>/replay", 404, "not_found"),
        ("GET", "seat/proofs/inclusion", 403, "forbidden"), ("POST", "seat/prints", 400, "invalid_request"),
        ("GET", "seat/prints/<int:printout>/file", 404, "not_found"),
    ],
)  # fmt: skip
def test_what_the_key_of_a_seat_is_refused_is_recorded(
    house: Kit, standing: Standing, method: str, route: str, status: int, code: str
) -> None:
    last = last_event()
    answer = standing.device.http.request(method, address(route, house))
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert_recorded(last, answer, recorded=route not in ("seat/deal", "seat/hand"))


def test_schema_docs_and_signing_in_need_no_token(house: Kit) -> None:
    http = house.http(None)
    assert http.get("/api/v1/schema").status_code == 200
    assert http.get("/api/v1/docs").status_code == 200
    assert http.post("/api/v1/sign-in", json={}).status_code == 400


def test_a_token_that_is_not_good_does_not_lock_the_open_doors(house: Kit) -> None:
    http = house.http("0" * 64)
    assert http.get("/api/v1/schema").status_code == 200
    assert http.post("/api/v1/sign-in", json={}).status_code == 400


def test_the_default_takes_nobody() -> None:
    assert [DenyAll] == api_settings.DEFAULT_PERMISSION_CLASSES
    assert DenyAll().has_permission(None, None) is False  # type: ignore[arg-type]


@pytest.mark.parametrize("base", [ReadOperation, WriteOperation])
def test_a_view_without_roles_takes_nobody(house: Kit, base: type) -> None:
    def get(self: object, request: object) -> None:
        raise AssertionError("nobody gets here")

    forgetful = type("Forgetful", (base,), {"get": get})
    staff = Staff.objects.create(
        house=house.house, login=f"all-{base.__name__}@{house.house.code}", name="All", roles=[Role.DEALER, Role.FLOOR]
    )
    request = APIRequestFactory().get("/")
    force_authenticate(request, user=staff)
    answer = forgetful.as_view()(request)
    assert (answer.status_code, answer.data["code"], answer.data["allowed_roles"]) == (403, "forbidden", [])


def test_roles_of_one_person_add_up_and_the_trail_names_the_one_that_was_used(kit: Kit) -> None:
    kit.table("T1")
    staff = Staff.objects.create(
        house=kit.house, login=f"both@{kit.house.code}", name="Both", roles=[Role.DEALER, Role.FLOOR]
    )
    terminal, _ = enrol_terminal(house=kit.house, code="both", kind=TerminalKind.TABLE, location="T1", actor=ACTOR)
    token = str(TerminalToken.objects.create(staff, terminal=terminal, house=kit.house)[1])
    desk = Desk(kit.http(token), "/api/v1/tables/T1")
    desk.refresh()
    opened, limited = desk.ok("open"), desk.ok("time-to-act", {"seconds": 60, "reason": "slow play"})
    assert desk.get("/api/v1/reports/house").status_code == 200
    assert desk.post("/api/v1/players/register", {"player": "x"}).status_code == 403
    events = kit.office().get("/api/v1/audit/events?page_size=1000").json()["results"]
    for done, role in ((opened, Role.DEALER), (limited, Role.FLOOR)):
        mine = next(event["payload"] for event in events if event["hash"] == done["audit"]["hash"])
        assert f'"role":"{role}"' in mine
        assert f'"actor":"{staff.login}"' in mine


def test_an_administrator_reads_a_table_without_its_money(kit: Kit) -> None:
    kit.table("T1")
    kit.seated()
    admin, manager = kit.office(Role.ADMIN), kit.office(Role.MANAGER)
    masked, whole = admin.get("tables/T1").json(), manager.get("tables/T1").json()
    assert [seat["stack"] for seat in whole["seats"]] == [20_000, 15_000, 9_000, 30_000]
    without = {"cukassza": None, "bank": None, "seats": [seat | {"stack": None} for seat in whole["seats"]]}
    assert masked == whole | without
    terms = {
        "options": whole["options"], "seat_count": 4, **whole["limits"], "carryover_on_close": "house",
        "reason": "the winter",
    }  # fmt: skip
    changed = admin.ok("tables/T1/terms", terms, version=masked["version"])
    assert (changed["cukassza"], [seat["stack"] for seat in changed["seats"]]) == (None, [None] * 4)
    refused = admin.post("tables/T1/retire", {"reason": "let"}, version=changed["version"]).json()
    assert refused["code"] == "table_open"


def test_an_answer_for_somebody_who_signed_in_is_given_to_nobody_else() -> None:
    """A view that forgets its permission fails; it does not answer for nobody."""
    request = Request(APIRequestFactory().get("/api/v1/anything"))
    with pytest.raises(AssertionError, match="signed in"):
        signed_in(request)
    with pytest.raises(AssertionError, match="key of a seat"):
        holder_of(request)
