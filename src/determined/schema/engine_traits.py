"""Engines as declarations of fields name them: by kind, or by a trait that any engine may have."""

from collections.abc import Mapping
from dataclasses import dataclass, field

RUNS_CONTAINERS = "runs_containers"
"""Trait of the engines whose tasks run in containers, from images."""
FORKS_TRIALS = "forks_trials"
"""Trait of the engines that start trials by a fork of an interpreter with their packages."""


@dataclass(frozen=True, slots=True)
class EngineTraits:
    """The engines at hand; without arguments, one of no trait.

    Attributes:
        names: Their kinds and traits. A field has an effect where its `engines` have one of them.
        kinds: The kinds of all engines with each trait, here or elsewhere.
    """

    names: frozenset[str] = frozenset()
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def honour(self, engines: tuple[str, ...]) -> bool:
        return not self.names.isdisjoint(engines)

    def kinds_of(self, engines: tuple[str, ...]) -> list[str]:
        """Return the kinds that the `engines` of a field mean."""
        return [kind for name in engines for kind in self.kinds.get(name, (name,))]


NO_TRAITS = EngineTraits()
