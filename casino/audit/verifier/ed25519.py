"""Signatures of Ed25519 (RFC 8032), verified in pure Python."""

import hashlib
from functools import lru_cache

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT_OF_MINUS_ONE = pow(2, (_P - 1) // 4, _P)
_DIGIT = 256
_Point = tuple[int, int, int, int]  # extended homogeneous coordinates X, Y, Z, T: x = X/Z, y = Y/Z, xy = T/Z
_NEUTRAL: _Point = (0, 1, 1, 0)


def _plus(p: _Point, q: _Point) -> _Point:
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % _P, (p[1] + p[0]) * (q[1] + q[0]) % _P
    c, d = 2 * p[3] * q[3] * _D % _P, 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _decompressed(encoded: bytes) -> _Point | None:
    """The point that 32 bytes stand for (RFC 8032, 5.1.3), None for bytes that stand for none."""
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= _P:
        return None
    x_squared = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(x_squared, (_P + 3) // 8, _P)
    if (x * x - x_squared) % _P:
        x = x * _ROOT_OF_MINUS_ONE % _P
    if (x * x - x_squared) % _P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


#: A point as sums use it again and again: y - x, y + x, 2dxy of its affine coordinates.
_Ready = tuple[int, int, int]


def _plus_ready(p: _Point, q: _Ready) -> _Point:
    a, b, c = (p[1] - p[0]) * q[0] % _P, (p[1] + p[0]) * q[1] % _P, p[3] * q[2] % _P
    d = p[2] + p[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


@lru_cache(maxsize=16)
def _multiples(encoded: bytes) -> list[list[_Ready]] | None:
    """Row i holds 1 to 128 times 256**i times the point: a product is a sum of one of each row, or of its negative."""
    point = _decompressed(encoded)
    if point is None:
        return None
    points = []
    for _ in range(32):
        multiple = point
        for _ in range(_DIGIT // 2):
            points.append(multiple)
            multiple = _plus(multiple, point)
        point = _plus(points[-1], points[-1])
    ready = _affine(points)
    return [ready[at : at + _DIGIT // 2] for at in range(0, len(ready), _DIGIT // 2)]


def _affine(points: list[_Point]) -> list[_Ready]:
    """All points with one inversion between them."""
    products = [1]
    for point in points:
        products.append(products[-1] * point[2] % _P)
    inverse = pow(products.pop(), -1, _P)
    found: list[_Ready] = []
    for before, (x, y, z, _) in zip(reversed(products), reversed(points), strict=True):
        own, inverse = inverse * before % _P, inverse * z % _P
        x, y = x * own % _P, y * own % _P
        found.append(((y - x) % _P, (y + x) % _P, 2 * _D * x * y % _P))
    return found[::-1]


def _times(number: int, rows: list[list[_Ready]], start: _Point) -> _Point:
    """`start` plus `number` (below the group's order) times the point of the rows."""
    for row in rows:
        number, digit = divmod(number, _DIGIT)
        if digit > _DIGIT // 2:
            minus, plus, twice = row[_DIGIT - digit - 1]
            start, number = _plus_ready(start, (plus, minus, -twice)), number + 1
        elif digit:
            start = _plus_ready(start, row[digit - 1])
    return start


@lru_cache(maxsize=16)
def is_key(public: bytes) -> bool:
    """Whether 32 bytes are a public key: the one encoding of a point of the prime order of the group.

    Under a key of small order, one signature is good for many messages; of others with such a part in them,
    implementations judge differently.
    """
    rows = _multiples(bytes(public)) if len(public) == 32 else None
    if rows is None or public in _SMALL_ORDER:
        return False
    x, y, z, _ = _times(_ORDER, rows, _NEUTRAL)
    return x % _P == 0 and (y - z) % _P == 0


#: The points of order 1, 2, 4 and 8, in the one encoding of each.
_SMALL_ORDER = frozenset(
    bytes.fromhex(text)
    for text in (
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    )
)
_BASE = (4 * pow(5, -1, _P) % _P).to_bytes(32, "little")


def ed25519_verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature of 64 bytes over `message` is of this public key of 32 bytes.

    Pure Python, a third of a millisecond a signature, and 30 for the first of a key. Only public values are handled: it
    need not run in constant time.
    """
    if len(public) != 32 or len(signature) != 64:
        return False
    scalar = int.from_bytes(signature[32:], "little")
    key, base = _multiples(bytes(public)), _multiples(_BASE)
    if key is None or base is None or scalar >= _ORDER or signature[:32] in _SMALL_ORDER or not is_key(bytes(public)):
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % _ORDER
    x, y, z, _ = _times(-challenge % _ORDER, key, _times(scalar, base, _NEUTRAL))
    inverse = pow(z, -1, _P)
    encoded = (y * inverse % _P) | ((x * inverse % _P) & 1) << 255
    return encoded.to_bytes(32, "little") == signature[:32]
