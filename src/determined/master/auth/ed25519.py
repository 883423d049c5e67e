"""Public keys of Ed25519 (RFC 8032), in plain Python: what a seed's public half is. Nothing here signs or verifies.

The alternative, `cryptography`, takes 15 MB, and nothing in the base install needs it but one key pair per shell. The
time of the computation depends on the seed; it happens once per shell inside of the master, where nobody can measure
it.
"""

import hashlib

_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_Y = 4 * pow(5, -1, _P) % _P
_X = 15112221349535400772501151409588531511454012693041857206046113283949847762202

# Extended coordinates (X, Y, Z, T) of RFC 8032, 5.1.4: x = X/Z, y = Y/Z, x*y = T/Z.
_Point = tuple[int, int, int, int]
_BASE: _Point = (_X, _Y, 1, _X * _Y % _P)
_ZERO: _Point = (0, 1, 1, 0)


def public_key(seed: bytes) -> bytes:
    """Return the 32 bytes of the public key that belong to the 32 bytes of a private one."""
    if len(seed) != 32:
        raise ValueError(f"an Ed25519 seed has 32 bytes, this one has {len(seed)}")
    return _encode(_multiply(_scalar(seed), _BASE))


def _scalar(seed: bytes) -> int:
    number = int.from_bytes(hashlib.sha512(seed).digest()[:32], "little")
    return number & ((1 << 254) - 8) | 1 << 254


def _multiply(scalar: int, point: _Point) -> _Point:
    result = _ZERO
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _add(left: _Point, right: _Point) -> _Point:
    a = (left[1] - left[0]) * (right[1] - right[0]) % _P
    b = (left[1] + left[0]) * (right[1] + right[0]) % _P
    c = 2 * left[3] * right[3] * _D % _P
    d = 2 * left[2] * right[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _encode(point: _Point) -> bytes:
    inverse = pow(point[2], -1, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")
