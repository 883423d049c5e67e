"""ECDSA and RSA keys from a seed, for masters whose config asks for them. `cryptography` computes and writes them.

It makes no RSA key from a seed, so the two primes are found here: numbers from an HMAC stream that pass 40 rounds of
Miller-Rabin.
"""

import hashlib
import hmac
import math
from types import ModuleType

from determined._imports import load_optional
from determined.errors import FailedPrecondition

DEFAULT_RSA_BITS = 3072
_RSA_BITS = range(1024, 4097)  # OpenSSH takes no fewer; more than these take a minute to find
_EXPONENT = 65537
_ROUNDS = 40  # a composite number passes all of them with a chance of 4 ** -40
_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def key_pair(seed: bytes, kind: str, rsa_bits: int | None) -> tuple[str, str]:
    """Return the private key as PEM and the public one as a line, both in OpenSSH's formats."""
    if kind == "ECDSA":
        ec = _library("primitives.asymmetric.ec")
        return _written(ec.derive_private_key(_Stream(seed).number(320) % (_P256_ORDER - 1) + 1, ec.SECP256R1()))
    bits = rsa_bits or DEFAULT_RSA_BITS
    if bits not in _RSA_BITS:
        raise FailedPrecondition(
            f"security.ssh.rsa_key_size={bits} of the master config is outside of {_RSA_BITS[0]} to {_RSA_BITS[-1]}"
        )
    return _written(_rsa(seed, bits))


class _Stream:
    """Numbers that follow from a seed."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._blocks = 0

    def number(self, bits: int) -> int:
        """Return the next number of at most so many bits."""
        return int.from_bytes(b"".join(self._block() for _ in range(-(-bits // 256))), "big") % (1 << bits)

    def _block(self) -> bytes:
        self._blocks += 1
        return hmac.digest(self._seed, self._blocks.to_bytes(8, "big"), hashlib.sha256)


def _rsa(seed: bytes, bits: int) -> object:
    rsa = _library("primitives.asymmetric.rsa")
    stream = _Stream(seed)
    p = _prime(stream, bits // 2)
    q = next(prime for prime in iter(lambda: _prime(stream, bits - bits // 2), None) if prime != p)
    d = pow(_EXPONENT, -1, math.lcm(p - 1, q - 1))
    public = rsa.RSAPublicNumbers(_EXPONENT, p * q)
    exponents = rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q)
    return rsa.RSAPrivateNumbers(p, q, d, *exponents, public).private_key()


def _prime(stream: _Stream, bits: int) -> int:
    """Return a prime of exactly so many bits. Its two highest bits are set, so that a product has the full length."""
    while True:
        candidate = stream.number(bits) | 3 << (bits - 2) | 1
        if math.gcd(candidate, _SMALL_PRIMES) == 1 and (candidate - 1) % _EXPONENT and _is_prime(candidate, stream):
            return candidate


def _is_prime(candidate: int, stream: _Stream) -> bool:
    bits = candidate.bit_length()
    return all(_passes(candidate, stream.number(bits) % (candidate - 3) + 2) for _ in range(_ROUNDS))


def _passes(candidate: int, base: int) -> bool:
    """Return whether one round of Miller-Rabin finds no proof that the candidate is composite."""
    twos = ((candidate - 1) & (1 - candidate)).bit_length() - 1
    x = pow(base, (candidate - 1) >> twos, candidate)
    if x in (1, candidate - 1):
        return True
    return any((x := x * x % candidate) == candidate - 1 for _ in range(twos - 1))


# Most candidates have a small divisor; one gcd finds that out much faster than a round of Miller-Rabin.
_SMALL_PRIMES = math.prod(n for n in range(3, 10_000, 2) if all(n % d for d in range(3, math.isqrt(n) + 1, 2)))


def _written(key: object) -> tuple[str, str]:
    forms = _library("primitives.serialization")
    private = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.OpenSSH, forms.NoEncryption())  # type: ignore[attr-defined]
    public = key.public_key().public_bytes(forms.Encoding.OpenSSH, forms.PublicFormat.OpenSSH)  # type: ignore[attr-defined]
    return private.decode(), public.decode()


def _library(module: str) -> ModuleType:
    try:
        return load_optional(f"cryptography.hazmat.{module}", extra="shell")
    except ImportError as e:
        raise FailedPrecondition(
            f"security.ssh.key_type of the master config asks for keys that need another package: {e}; or leave "
            "key_type out for ED25519"
        ) from e
