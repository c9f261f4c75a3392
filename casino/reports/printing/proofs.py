"""The proof of a receipt on paper: a QR code that leads to the page which checks it, the proof itself as another one,
and as lines that can be typed.

What is printed is the answer of `GET receipts/HASH` (canonical JSON), compressed (zlib) and written in Crockford's
base 32, which has no letters that look like digits. Every line has its number and two characters by which a mistake is
found: the first ten bits of the SHA-256 of `NUMBER:DATA`. `verify.pyz receipt` and the page read both forms.
"""

import hashlib
import zlib

from casino.audit import selectors as audit
from casino.audit.models import SignedCheckpoint
from casino.audit.selectors import Inclusion
from casino.audit.witnessing import cosigned_note
from casino.core import canonical
from casino.core.errors import Conflict
from casino.reports.frame.head import Proof

#: Of the document of a receipt; the verifier demands it.
FORMAT = "cukassza/receipt/1"
#: What the text of the second QR code begins with.
PREFIX = "CUKASSZA1:"
#: Characters of data in a line, and of a group of them.
WIDTH, GROUP = 40, 8
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: Where the page is that checks a receipt.
PAGE = "/console/verify/"


def document(leaf_hash: str, found: Inclusion) -> str:
    """A receipt with its proof, as `GET receipts/HASH` answers it and `verify.pyz receipt` takes it: canonical JSON."""
    return canonical.dumps(
        {
            "format": FORMAT,
            "hash": leaf_hash,
            "epoch": found.leaf.epoch,
            "leaf_index": found.leaf.leaf_index,
            "size": found.checkpoint.size,
            "path": [node.hex() for node in found.path],
            "checkpoint": cosigned_note(found.checkpoint),
        }
    )


def first_proof(leaf_hash: str) -> Inclusion:
    """The proof of an event against the first checkpoint that covers it: the same whenever it is printed. Raises
    Conflict not_in_the_log_yet, NotFound."""
    leaf = audit.inclusion_of_hash(bytes.fromhex(leaf_hash)).leaf
    first = SignedCheckpoint.objects.filter(house=leaf.house_id, epoch=leaf.epoch, size__gt=leaf.leaf_index)
    size = first.order_by("size").values_list("size", flat=True).first()
    if size is None:
        raise Conflict("The event is not in the log yet; ask again in a moment.", code="not_in_the_log_yet")
    return audit.inclusion_of_hash(bytes.fromhex(leaf_hash), size)


def proof_of(chain: str, seq: int, leaf_hash: str, found: Inclusion, root: str) -> Proof:
    """What a paper says of an event; `root` is the address of the house, `https://house.example`."""
    data = encoded(zlib.compress(document(leaf_hash, found).encode(), 9))
    return Proof(chain, seq, leaf_hash, f"{root}{PAGE}{leaf_hash}", PREFIX + data, lines_of(data))


def encoded(content: bytes) -> str:
    """Bytes in Crockford's base 32, from the first bit on; the last character is filled up with zeros."""
    number, bits = int.from_bytes(content, "big"), len(content) * 8
    length = -(-bits // 5)
    number <<= length * 5 - bits
    return "".join(_ALPHABET[number >> 5 * at & 31] for at in reversed(range(length)))


def lines_of(data: str) -> list[str]:
    """The same in lines: number, groups, check."""
    parts = [data[at : at + WIDTH] for at in range(0, len(data), WIDTH)]
    found = []
    for number, part in enumerate(parts, 1):
        groups = " ".join(part[at : at + GROUP] for at in range(0, len(part), GROUP))
        found.append(f"{number:02} {groups} {check(number, part)}")
    return found


def check(number: int, data: str) -> str:
    """The two characters by which a mistake in a line is found."""
    digest = int.from_bytes(hashlib.sha256(f"{number}:{data}".encode()).digest()[:2], "big") >> 6
    return _ALPHABET[digest >> 5] + _ALPHABET[digest & 31]
