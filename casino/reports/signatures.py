"""Signatures under what a house is before it goes live: three roles, three people, one digest."""

from typing import Any

from casino.core import canonical
from casino.houses.models import GoLiveSignature, House
from casino.reports import configuration, setting
from casino.staff.models import Role

#: Who signs, each once, in any order.
SIGNERS = (Role.ADMIN, Role.AUDITOR, Role.MANAGER)


def standing(house: House) -> list[GoLiveSignature]:
    """The newest signatures that are under one digest, the oldest first: those before them are void."""
    found: list[GoLiveSignature] = []
    for one in setting.read(house).signatures:
        if found and one.digest != found[0].digest:
            break
        found.insert(0, one)
    return found


def describe(house: House) -> dict[str, Any]:
    """The digest of now, who has signed it, and which roles have not."""
    digest = canonical.sha256(configuration.to_sign(house))
    signed = [
        {"role": one.role, "login": one.signed_by, "at": one.signed_at, "void": one.digest != digest}
        for one in standing(house)
    ]
    holding = {one["role"] for one in signed if not one["void"]}
    return {"digest": digest, "signed": signed, "missing": [str(role) for role in SIGNERS if role not in holding]}
