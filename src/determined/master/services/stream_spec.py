"""Subscription of a client of `/stream`: nouns, filters, and lists of keys as upstream writes them. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from determined.errors import InvalidArgument
from determined.wire.stream import StartupMsg, SubscriptionSpec

MAX_NAMED = 20_000  # ids in one filter
_MAX_KNOWN = 1_000_000
_LARGEST = 2**63 - 1
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")


class Noun(StrEnum):
    PROJECTS = "projects"
    EXPERIMENTS = "experiments"
    TRIALS = "trials"
    CHECKPOINTS = "checkpoints"
    TASKS = "tasks"
    JOBS = "jobs"
    METRICS = "metrics"
    AGENTS = "agents"
    MODELS = "models"
    MODEL_VERSIONS = "modelversions"


@dataclass(frozen=True, slots=True)
class NounTraits:
    """Traits of a noun in the protocol.

    Attributes:
        singular: key of a row's message.
        ids: field of a subscription that names the things themselves.
        parents: field that names what they are in.
        users: field that names their users.
        numbered: its ids are integers.
        moving: it can change its owner; a client that holds one and asked for the old owner hears that it has left.
        stored: a row of the database; else it lives in the memory of a master.
    """

    singular: str
    ids: str | None = None
    parents: str | None = None
    users: str | None = None
    numbered: bool = False
    moving: bool = False
    stored: bool = True


TRAITS: Mapping[Noun, NounTraits] = {
    Noun.PROJECTS: NounTraits("project", "project_ids", "workspace_ids", numbered=True, moving=True),
    Noun.EXPERIMENTS: NounTraits("experiment", "experiment_ids", "project_ids", numbered=True, moving=True),
    Noun.TRIALS: NounTraits("trial", "trial_ids", "experiment_ids", numbered=True),
    Noun.CHECKPOINTS: NounTraits("checkpoint", parents="experiment_ids"),
    Noun.TASKS: NounTraits("task", "task_ids", "experiment_ids"),
    Noun.JOBS: NounTraits("job", "job_ids"),
    Noun.METRICS: NounTraits("metrics", parents="trial_ids"),
    Noun.AGENTS: NounTraits("agent", stored=False),
    Noun.MODELS: NounTraits("model", "model_ids", "workspace_ids", "user_ids", numbered=True, moving=True),
    Noun.MODEL_VERSIONS: NounTraits("modelversion", "model_version_ids", "model_ids", "user_ids", numbered=True),
}


@dataclass(frozen=True, slots=True)
class Filter:
    """Filter: `everything`, or what has one of the ids, parents or users."""

    everything: bool
    ids: frozenset[str] = frozenset()
    parents: frozenset[int] = frozenset()
    users: frozenset[int] = frozenset()

    def takes(self, key: str, parent: int | None, user: int | None = None) -> bool:
        return self.everything or key in self.ids or parent in self.parents or user in self.users

    def __or__(self, other: "Filter") -> "Filter":
        if self.everything or other.everything:
            return Filter(everything=True)
        return Filter(False, self.ids | other.ids, self.parents | other.parents, self.users | other.users)


@dataclass(frozen=True, slots=True)
class Subscription:
    """Filters of one client by noun; `since` and `known` as it sent them."""

    sync_id: str
    filters: Mapping[Noun, Filter]
    since: Mapping[Noun, int | None]
    known: Mapping[Noun, frozenset[str]]
    extended: bool
    epoch: str

    def follows(self, noun: Noun) -> bool:
        """Return whether things of this noun can leave what was asked for without being deleted."""
        return TRAITS[noun].moving and noun in self.filters and not self.filters[noun].everything

    def takes(self, noun: str, key: str, parent: int | None, user: int | None = None) -> bool:
        wanted = self.filters.get(Noun(noun))
        return wanted is not None and wanted.takes(key, parent, user)


def subscription(message: StartupMsg) -> Subscription:
    """Read a subscription. Raises InvalidArgument for an unknown noun and for keys that cannot be read."""
    specs = {_noun(name): spec for name, spec in message.subscribe.items()}
    return Subscription(
        sync_id=message.sync_id,
        filters={noun: _filter(noun, spec) for noun, spec in specs.items()},
        since={noun: spec.since for noun, spec in specs.items()},
        known={noun: parse_keys(noun, message.known[noun]) for noun in specs if message.known.get(noun)},
        extended=message.extended,
        epoch=message.epoch,
    )


def union(subscriptions: Iterable[Subscription]) -> dict[Noun, Filter]:
    """Return what at least one of them wants to hear of: this is read once for all."""
    merged: dict[Noun, Filter] = {}
    for one in subscriptions:
        for noun, wanted in one.filters.items():
            merged[noun] = merged[noun] | wanted if noun in merged else wanted
    return merged


def parse_keys(noun: Noun, text: str) -> frozenset[str]:
    """`1,4-6` is 1, 4, 5, 6; keys that are no integers are listed one by one."""
    if not TRAITS[noun].numbered:
        return frozenset(text.split(","))
    keys: set[str] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise InvalidArgument(f"known.{noun}: {part!r} is neither a number nor a range such as 4-9")
        first, last = int(match[1]), int(match[2] or match[1])
        if last - first + len(keys) > _MAX_KNOWN:
            raise InvalidArgument(f"known.{noun} names more than {_MAX_KNOWN} things; leave it out to start again")
        keys.update(map(str, range(first, last + 1)))
    return frozenset(keys)


def write_keys(noun: str, keys: Iterable[str]) -> str:
    if not TRAITS[Noun(noun)].numbered:
        return ",".join(sorted(keys))
    parts: list[str] = []
    for first, last in _ranges(sorted(map(int, keys))):
        parts.append(str(first) if first == last else f"{first}-{last}")
    return ",".join(parts)


def _ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


def _noun(name: str) -> Noun:
    try:
        return Noun(name)
    except ValueError:
        raise InvalidArgument(f"subscribe.{name}: there is no such noun; use {', '.join(Noun)}") from None


def _filter(noun: Noun, spec: SubscriptionSpec) -> Filter:
    traits = TRAITS[noun]
    fields = (traits.ids, traits.parents, traits.users)
    ids, parents, users = (getattr(spec, field) if field else None for field in fields)
    named = [*(ids or ()), *(parents or ()), *(users or ())]
    if len(named) > MAX_NAMED:
        raise InvalidArgument(f"subscribe.{noun} names more than {MAX_NAMED} ids; name their owner or nothing")
    if ids is None and parents is None and users is None:
        return Filter(everything=True)
    strange = next((key for key in named if not _can_be_stored(key)), None)
    if strange is not None:
        raise InvalidArgument(f"subscribe.{noun}: nothing can have the id {str(strange)[:40]!r}; leave it out")
    return Filter(False, frozenset(map(str, ids or ())), frozenset(parents or ()), frozenset(users or ()))


def _can_be_stored(key: int | str) -> bool:
    """Return whether a database takes the key: one that it refuses would fail the pass that reads for all clients."""
    return "\0" not in key if isinstance(key, str) else abs(key) <= _LARGEST
