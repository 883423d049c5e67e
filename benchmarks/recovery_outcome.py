"""Moments at which servers are killed, the same for everybody, and counts when it is over."""

import itertools
import random
import statistics
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path

import recovery_steps
from recovery_steps import CHECKPOINT, Step

TRAINERS = 8
CALM = 5.0  # seconds that everybody trains before the first kill: what is usual
_SEED = 8


@dataclass(frozen=True, slots=True)
class Moment:
    """Moment of a kill: how long a server may serve before it is killed, and how long it is away then."""

    serves: float
    is_away: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """`serving`: seconds from each new start to the first right answer. Pauses: beyond a usual step's length."""

    serving: list[float]
    restarted: int
    crashed: int
    values: int
    lost: int
    doubled: int
    usual_step: float
    longest_pause: float
    plain_pause: float  # the longest one of a step that made no checkpoint
    calm_pause: float  # the longest one before the first kill
    usual_call: float
    longest_call: float


def moments(number: int) -> list[Moment]:
    rng = random.Random(_SEED)
    return [Moment(rng.uniform(0.05, 1.5), rng.uniform(0.0, 0.3)) for _ in range(number)]


def outcome(
    folder: Path,
    serving: list[float],
    first_kill: float,
    *,
    crashed: int,
    told: Iterable[Hashable],
    kept: Iterable[Hashable],
    checkpoints: bool,
) -> Outcome:
    """With what the diaries in the folder say. `told`, `kept`: values; `checkpoints`: whether they were made."""
    said, stored = Counter(told), Counter(kept)
    diaries = recovery_steps.read(folder)
    trainers = [[step for process in processes for step in process] for processes in diaries.values()]
    gaps = [gap for steps in trainers for gap in _gaps(steps)]
    calls = [step.call for steps in trainers for step in steps]
    usual = statistics.median(gap for _, gap in gaps)
    plain = [gap for step, gap in gaps if not checkpoints or step.number % CHECKPOINT]
    return Outcome(
        serving=serving,
        restarted=sum(len(processes) - 1 for processes in diaries.values()),
        crashed=crashed,
        values=said.total(),
        lost=(said - stored).total(),
        doubled=(stored - said).total(),
        usual_step=usual,
        longest_pause=max(gap for _, gap in gaps) - usual,
        plain_pause=max(plain) - usual,
        calm_pause=max((gap for step, gap in gaps if step.ended < first_kill), default=usual) - usual,
        usual_call=statistics.median(calls),
        longest_call=max(calls),
    )


def all_train(folder: Path, steps: int = 1, trainers: int = TRAINERS) -> bool:
    """Check whether so many trainers have each taken as many steps in their newest process."""
    diaries = recovery_steps.read(folder)
    return sum(len(processes[-1]) >= steps for processes in diaries.values()) >= trainers


def _gaps(steps: list[Step]) -> list[tuple[Step, float]]:
    """Return each step but the first with the time that it took."""
    return [(now, now.ended - before.ended) for before, now in itertools.pairwise(steps)]
