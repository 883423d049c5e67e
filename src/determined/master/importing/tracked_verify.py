"""Verification of an import from another tracker: every id, and every value of some trials, against the source."""

import random
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice

from determined.master.db.queries import import_check, imported
from determined.master.db.queries.imported import TrackedHere
from determined.master.importing.clean import clean_text
from determined.master.importing.compare import same
from determined.master.importing.target import Target
from determined.master.importing.tracked import TrackedSource, TrackedTrial
from determined.master.importing.tracked_plan import new_of
from determined.master.importing.tracked_rows import external_id
from determined.master.importing.tracked_series import series_of
from determined.master.services.imported_id import prefix

_SAMPLES = 50  # trials whose every value is compared
_SHOWN = 20  # problems


RunsRead = dict[tuple[str, str], bool]
"""Runs that an import has read, by the ids of experiment and run, and whether they were live then."""


def problems(
    source: TrackedSource, target: Target, stored_experiments: Mapping[str, TrackedHere], read: RunsRead, now: datetime
) -> list[str]:
    """Return what differs, for people. `stored_experiments`: of earlier imports; `now`: the time of the import."""
    sample: list[tuple[int, TrackedTrial]] = []
    missing = list(_missing(source, target, stored_experiments, read, sample))
    differing = (text for trial_id, trial in sample for text in _differences(target, trial_id, trial, now))
    return [*missing[:_SHOWN], *islice(differing, _SHOWN)]


def _missing(
    source: TrackedSource,
    target: Target,
    stored_experiments: Mapping[str, TrackedHere],
    read: RunsRead,
    sample: list[tuple[int, TrackedTrial]],
) -> Iterator[str]:
    """Yield what is not here; fill `sample` with a fair choice of what is, and had ended when it was read.

    Runs that have begun since are for the next import.
    """
    all_stored = target.read(lambda conn: imported.tracked(conn, prefix(source.identity)))
    sampler = random.Random(source.identity)
    seen = 0
    for new in new_of(source, stored_experiments):
        stored = all_stored.get(external_id(source.identity, new.experiment.external_id))
        for trial in new.trials:
            was_live = read.get((new.experiment.external_id, trial.external_id))
            if was_live is None:
                continue
            trial_id = stored.trials.get(clean_text(trial.external_id)) if stored else None
            if trial_id is None:
                yield f"run {trial.external_id} of {new.experiment.name} is missing"
                continue
            if was_live:
                continue
            seen += 1
            if len(sample) < _SAMPLES:
                sample.append((trial_id, trial))
            elif (at := sampler.randrange(seen)) < _SAMPLES:
                sample[at] = trial_id, trial


def _differences(target: Target, trial_id: int, trial: TrackedTrial, now: datetime) -> Iterator[str]:
    for group, rows in series_of(trial, now).items():
        stored = target.read(lambda conn, group=group: import_check.series(conn, trial_id, group))  # type: ignore[misc]
        if len(stored) != len(rows):
            yield f"trial {trial_id}, {group}: {len(rows)} points, here {len(stored)}"
            continue
        for ours, theirs in zip(stored, rows, strict=True):
            if ours.step != theirs.step or not same(ours.metrics, theirs.metrics):
                yield f"trial {trial_id}, {group}, step {theirs.step}: {theirs.metrics} is stored as {ours}"
                break
