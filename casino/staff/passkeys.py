"""Passkeys (WebAuthn, level 2): the other second factor beside codes. An authenticator signs a challenge of the house
with a key that never leaves it, for this house's host only, after it has made sure who holds it.

A challenge is 32 random bytes. The database keeps its SHA-256, the terminal where it was asked for and what it is for;
it counts once, for `LASTS` seconds by the database's clock. Who shows it has used it up, also in vain. No
attestation is asked for: any authenticator will do that verifies its user.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import webauthn
from django.conf import settings
from django.db.models import DateTimeField, ExpressionWrapper, Q
from django.http import HttpRequest
from webauthn.helpers import (
    base64url_to_bytes,
    bytes_to_base64url,
    decode_credential_public_key,
    decoded_public_key_to_cryptography,
    parse_client_data_json,
)
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.exceptions import WebAuthnException

from casino.core import locks, sql
from casino.core.canonical import fingerprint
from casino.core.errors import Forbidden
from casino.houses.models import ClockTimestamp, House
from casino.staff.models import Passkey, PasskeyChallenge, Staff, Terminal

#: Seconds for which a challenge counts.
LASTS = 120
#: Challenges of a terminal that count at the same time; one more ends the oldest.
MOST_OPEN = 20
#: What a challenge is for, besides a decision (`for_decision`).
SIGN_IN, REAUTHENTICATE, OWN, REGISTER = "sign_in", "reauthenticate", "own", "register"
#: Signatures that are taken, as COSE numbers them: ES256, EdDSA, RS256.
ALGORITHMS = (
    COSEAlgorithmIdentifier.ECDSA_SHA_256,
    COSEAlgorithmIdentifier.EDDSA,
    COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256,
)
#: What reading and verifying what a browser has sent may raise, whatever that is.
UNREADABLE = (WebAuthnException, ValueError, TypeError, KeyError, AttributeError, RecursionError)
_SPEND = """
DELETE FROM staff_passkeychallenge WHERE digest = %s AND house_id = %s
RETURNING (SELECT code FROM staff_terminal WHERE id = terminal_id), bound_to, expires_at > clock_timestamp()
"""
_TIDY = """
DELETE FROM staff_passkeychallenge WHERE terminal_id = %s AND (expires_at <= clock_timestamp() OR digest IN (
    SELECT digest FROM staff_passkeychallenge WHERE terminal_id = %s ORDER BY expires_at DESC, digest OFFSET %s))
"""
_NOT_YOURS = "This is no passkey of yours."


class PasskeyRefused(Forbidden):
    """A passkey of somebody else, of another host, without its user, or with a wrong signature."""

    code = "passkey_refused"


class ChallengeRefused(PasskeyRefused):
    """The challenge is unknown, used, too old, or was asked for something else."""

    code = "passkey_challenge_refused"


class PasskeyCloned(PasskeyRefused):
    """The passkey counts its signatures and has signed more often before: somebody else has a copy of it.

    `passkey` is what the trail calls it; `stored` and `given` are the two counts.
    """

    code = "passkey_cloned"

    def __init__(self, passkey: str, stored: int, given: int) -> None:
        super().__init__("This passkey has signed more often than it says: there may be a copy of it. Tell the office.")
        self.passkey, self.stored, self.given = passkey, stored, given


@dataclass(frozen=True, slots=True)
class Assertion:
    """What an authenticator has answered to a challenge, each part in base64url; `user_handle` may be empty."""

    credential: str
    client_data: str
    authenticator_data: str
    signature: str
    user_handle: str = ""


@dataclass(frozen=True, slots=True)
class Creation:
    """What an authenticator has answered when it made a passkey, each part in base64url."""

    credential: str
    client_data: str
    attestation: str


@dataclass(frozen=True, slots=True)
class Made:
    """A passkey that was verified: its public key in COSE's form, and how often it has signed."""

    public_key: bytes
    sign_count: int


@dataclass(frozen=True, slots=True)
class Site:
    """The host for which passkeys are made, and the origins of the pages that may ask for one."""

    host: str
    origins: tuple[str, ...]


def site(request: HttpRequest) -> Site:
    """That of the settings; otherwise the host of the request, which `CASINO_ALLOWED_HOSTS` allows. Browsers ask for
    passkeys over HTTPS, and over HTTP from the machine itself only. Raises DisallowedHost."""
    asked = request.get_host()
    named = urlsplit(f"//{asked}").hostname or ""
    origins = [f"https://{asked}"]
    if named == "localhost":
        origins.append(f"http://{asked}")
    return Site(settings.CASINO_PASSKEY_HOST or named, tuple(settings.CASINO_PASSKEY_ORIGINS or origins))


def for_decision(state: str, number: int, request_hash: str) -> str:
    """What a challenge for one decision on one approval is for: exactly that request, and how it is decided."""
    return f"{state}/{number}/{request_hash}"


def of(purpose: str, staff: Staff) -> str:
    """What a challenge for one person is for."""
    return f"{purpose}/{staff.login}"


def issue(terminal: Terminal, bound_to: str) -> str:
    """A new challenge, in base64url, that counts at this terminal and for this. Call it outside a transaction."""
    text = bytes_to_base64url(secrets.token_bytes(32))
    ends = ExpressionWrapper(ClockTimestamp() + timedelta(seconds=LASTS), output_field=DateTimeField())
    row = PasskeyChallenge(
        house_id=terminal.house_id, terminal=terminal, digest=fingerprint(text), bound_to=bound_to, expires_at=ends
    )
    tidying = _TIDY, [terminal.pk, terminal.pk, MOST_OPEN - 1]
    locks.in_transaction(lambda: sql.together(tidying, sql.inserting(row)))
    return text


def asking(challenge: str, request: HttpRequest, person: Staff | None) -> dict[str, Any]:
    """What a browser is asked for a signature with: any passkey of this person; without one, any that the
    authenticator has for this host."""
    names = [] if person is None else person.passkeys.order_by("id").values_list("credential_id", flat=True)
    return {
        "challenge": challenge, "host": site(request).host, "timeout_seconds": LASTS, "user_verification": "required",
        "credentials": list(names),
    }  # fmt: skip


def making(challenge: str, request: HttpRequest, person: Staff) -> dict[str, Any]:
    """What a browser is asked for a new passkey with; `credentials` are those that the person has already."""
    names = {"user": user_handle(person), "login": person.login, "name": person.name, "house": person.house.name}
    asked = asking(challenge, request, person)
    return asked | names | {"algorithms": [int(one) for one in ALGORITHMS]}


def user_handle(person: Staff) -> str:
    """What an authenticator knows a person by, in base64url: it says nothing about the person."""
    return bytes_to_base64url(hashlib.sha256(f"passkeys of {person.house_id}/{person.pk}".encode()).digest())


def accepted(staff: Staff, given: Assertion, terminal: str, bound_to: str, request: HttpRequest) -> str:
    """As `use`, outside a transaction; the challenge is used up also where this refuses."""

    def operation() -> str | PasskeyRefused:
        try:
            return use(staff, given, terminal, bound_to, request)
        except PasskeyRefused as error:
            return error

    found = locks.in_transaction(operation)
    if isinstance(found, PasskeyRefused):
        raise found
    return found


def use(staff: Staff, given: Assertion, terminal: str, bound_to: str, request: HttpRequest) -> str:
    """Let the signature of a passkey count, in the caller's transaction: for a challenge that was asked for at this
    terminal (its code) and for this. Returns what the trail calls the passkey. Raises PasskeyRefused,
    ChallengeRefused, PasskeyCloned."""
    challenge = _spent(staff, given.client_data, terminal, bound_to)
    key = Passkey.objects.filter(staff=staff, credential_id=given.credential).first()
    if key is None or given.user_handle not in ("", user_handle(staff)):
        raise PasskeyRefused(_NOT_YOURS)
    count = _verified(key, given, challenge, site(request))
    later = Q(sign_count__lt=count) if count else Q(sign_count=0)
    # Of two signatures with the same count at the same moment, one finds the row as it was.
    if not Passkey.objects.filter(later, id=key.pk).update(sign_count=count, last_used_at=ClockTimestamp()):
        raise _refused_count(key, count)
    return name_of(key)


def _refused_count(key: Passkey, count: int) -> PasskeyRefused:
    """Why a count is not taken, by the row as it is now: another signature may have counted since it was read."""
    stored = Passkey.objects.filter(id=key.pk).values_list("sign_count", flat=True).first()
    return PasskeyRefused(_NOT_YOURS) if stored is None else PasskeyCloned(name_of(key), stored, count)


def made(staff: Staff, given: Creation, terminal: str, bound_to: str, request: HttpRequest) -> Made:
    """A new passkey, verified, in the caller's transaction: for a challenge as in `use`. Raises PasskeyRefused,
    ChallengeRefused."""
    challenge, here = _spent(staff, given.client_data, terminal, bound_to), site(request)
    response = {"clientDataJSON": given.client_data, "attestationObject": given.attestation}
    try:
        found = webauthn.verify_registration_response(
            credential=_credential(given.credential, response), expected_challenge=challenge,
            expected_rp_id=here.host, expected_origin=list(here.origins), require_user_verification=True,
            supported_pub_key_algs=list(ALGORITHMS),
        )  # fmt: skip
        decoded_public_key_to_cryptography(decode_credential_public_key(found.credential_public_key))
    except UNREADABLE as error:
        raise PasskeyRefused(f"The passkey is not taken: {error}.") from error
    if bytes_to_base64url(found.credential_id) != given.credential:
        raise PasskeyRefused("The passkey is not taken: it is another one than it says.")
    return Made(found.credential_public_key, found.sign_count)


def forget(house_id: Any, client_data: str) -> None:
    """Use up a challenge that was shown in vain, after the transaction that refused was rolled back."""
    try:
        challenge = _challenge_in(client_data)
    except ChallengeRefused:
        return
    locks.in_transaction(lambda: sql.rows(_SPEND, [fingerprint(bytes_to_base64url(challenge)), house_id]))


def name_of(key: Passkey) -> str:
    """What the trail calls a passkey: SHA-256 of the authenticator's name for it, 64 hex digits."""
    return fingerprint(key.credential_id)


def note_clone(house: House, login: str, passkey: str) -> None:
    """Note that there may be a copy of a person's passkey (`passkey`: what the trail calls it), in the caller's
    transaction, which records it."""
    for one in Passkey.objects.filter(house=house, staff__login=login).order_by("id"):
        if name_of(one) == passkey:
            Passkey.objects.filter(id=one.pk).update(clone_seen_at=ClockTimestamp())


def of_person(staff: Staff) -> Sequence[Passkey]:
    """The passkeys of a person, the oldest first."""
    return list(staff.passkeys.order_by("id"))


def key_fingerprint(public_key: bytes) -> str:
    """SHA-256 of a public key, 64 hex digits: what the audit trail has of it."""
    return hashlib.sha256(public_key).hexdigest()


def _spent(staff: Staff, client_data: str, terminal: str, bound_to: str) -> bytes:
    """The challenge that was signed, used up by this. Raises ChallengeRefused."""
    challenge = _challenge_in(client_data)
    found = sql.rows(_SPEND, [fingerprint(bytes_to_base64url(challenge)), staff.house_id])
    if found != [(terminal, bound_to, True)]:
        raise ChallengeRefused("The challenge is too old, was used before, or was asked for something else. Try again.")
    return challenge


def _challenge_in(client_data: str) -> bytes:
    """The challenge that a browser says it had signed. Raises ChallengeRefused."""
    try:
        return parse_client_data_json(base64url_to_bytes(client_data)).challenge
    except UNREADABLE as error:
        raise ChallengeRefused("What the browser says of the challenge cannot be read.") from error


def _verified(key: Passkey, given: Assertion, challenge: bytes, here: Site) -> int:
    """How often the passkey says that it has signed, after everything else was verified. Raises PasskeyRefused."""
    response = {
        "clientDataJSON": given.client_data, "authenticatorData": given.authenticator_data,
        "signature": given.signature, "userHandle": given.user_handle or None,
    }  # fmt: skip
    try:
        # The count is compared where it is stored, so that of two at the same moment one is refused.
        found = webauthn.verify_authentication_response(
            credential=_credential(given.credential, response), expected_challenge=challenge,
            expected_rp_id=here.host, expected_origin=list(here.origins), credential_current_sign_count=0,
            credential_public_key=bytes(key.public_key), require_user_verification=True,
        )  # fmt: skip
    except UNREADABLE as error:
        raise PasskeyRefused(f"The passkey is not taken: {error}.") from error
    return found.new_sign_count


def _credential(name: str, response: Mapping[str, Any]) -> dict[str, Any]:
    """As browsers write it, once it is known that no page inside another page has asked. Raises PasskeyRefused."""
    found = json.loads(base64url_to_bytes(response["clientDataJSON"]))
    if found.get("crossOrigin") or found.get("topOrigin"):
        raise PasskeyRefused("The passkey is not taken: a page inside another page has asked for it.")
    return {"id": name, "rawId": name, "type": "public-key", "response": response}
