"""Results of an experiment's ended trials, for what is worked out over all of them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from determined._json import JsonObject, JsonValue
from determined.master.db.metric_summary import NUMBER
from determined.master.db.queries.batching import batches
from determined.master.db.queries.validation import GROUP
from determined.master.db.schema import metric_summaries, trials


@dataclass(frozen=True, slots=True)
class Result:
    """Validation metric of one trial: its extremes and its last value, as JSON carries it."""

    low: float | None
    high: float | None
    last: JsonValue


def mark(conn: Connection, experiment_id: int, state: str) -> tuple[int, datetime | None]:
    """Return how many trials ended in `state`, and when the last of them did: another mark, other results."""
    query = select(func.count(), func.max(trials.c.end_time))
    count, end = conn.execute(query.where(trials.c.experiment_id == experiment_id, trials.c.state == state)).one()
    return count, end


def results(conn: Connection, experiment_id: int, state: str, names: Sequence[str]) -> dict[int, dict[str, Result]]:
    """Return results by trial and metric name, in the order of trials; metrics that are not numbers are left out."""
    table = metric_summaries.c
    query = (
        select(trials.c.id, table.name, table.min, table.max, table.last)
        .join(metric_summaries, table.trial_id == trials.c.id)
        .where(
            trials.c.experiment_id == experiment_id,
            trials.c.state == state,
            table.group == GROUP,
            table.type == NUMBER,
            table.name.in_(names),
        )
        .order_by(trials.c.id)
    )
    results_by_trial: defaultdict[int, dict[str, Result]] = defaultdict(dict)
    for trial_id, name, low, high, last in conn.execute(query):
        results_by_trial[trial_id][name] = Result(low, high, last)
    return dict(results_by_trial)


def hparams(conn: Connection, trial_ids: Sequence[int]) -> dict[int, JsonObject]:
    hparams_by_trial: dict[int, JsonObject] = {}
    for some in batches(trial_ids):
        query = select(trials.c.id, trials.c.hparams).where(trials.c.id.in_(some))
        hparams_by_trial.update((trial_id, values) for trial_id, values in conn.execute(query))
    return hparams_by_trial
