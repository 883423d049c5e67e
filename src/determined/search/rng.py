"""The experiment's random generator: a 32-bit Mersenne Twister that draws what NumPy's RandomState(seed) draws.

Upstream's trials (ids, seeds, hyperparameters) are reproduced only while these draws stay as they are.
"""

import random
import uuid

from determined._json import JsonObject

_WORDS = 624
_STATE_VERSION = 3  # what random.Random.setstate expects for a Mersenne Twister


class Rng:
    """Random numbers as NumPy's RandomState draws them. The state is 624 words and a position, as NumPy keeps it."""

    def __init__(self, seed: int) -> None:
        self._twister = random.Random()
        self._set(_seed_words(seed), _WORDS)

    @classmethod
    def restore(cls, state: JsonObject) -> "Rng":
        """Return the generator whose `snapshot` gave `state`."""
        rng = cls.__new__(cls)
        rng._twister = random.Random()
        rng._set([int(word) for word in state["key"]], int(state["pos"]))
        return rng

    def snapshot(self) -> JsonObject:
        words = self._twister.getstate()[1]
        return {"key": list(words[:_WORDS]), "pos": words[_WORDS]}

    def below(self, n: int) -> int:
        """Return a uniform int in [0, n). Draws nothing for n == 1."""
        top = n - 1
        if top == 0:
            return 0
        mask = (1 << top.bit_length()) - 1
        draw = self._word if top <= 0xFFFFFFFF else self._double_word
        while (value := draw() & mask) > top:
            pass
        return value

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * self._twister.random()

    def uuid4(self) -> str:
        """16 random bytes with the version and variant bits of a random UUID."""
        raw = b"".join(self._word().to_bytes(4, "little") for _ in range(4))
        return str(uuid.UUID(bytes=raw, version=4))

    def _word(self) -> int:
        return self._twister.getrandbits(32)

    def _double_word(self) -> int:
        high = self._word()
        return high << 32 | self._word()

    def _set(self, words: list[int], position: int) -> None:
        self._twister.setstate((_STATE_VERSION, (*words, position), None))


def _seed_words(seed: int) -> list[int]:
    """Knuth's seeding. random.seed would hash the seed first and give other draws."""
    words = [seed & 0xFFFFFFFF]
    for i in range(1, _WORDS):
        previous = words[-1]
        words.append((1812433253 * (previous ^ previous >> 30) + i) & 0xFFFFFFFF)
    return words
