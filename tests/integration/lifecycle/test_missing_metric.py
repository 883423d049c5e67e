"""A trial that never reports the metric of its search says so in its log: the search could not judge it."""

import pytest
from world import World

from determined.master.db.queries import metric, metric_trial
from determined.wire.report import MetricReport

RANDOM = {"name": "random", "metric": "loss", "max_trials": 1}


@pytest.mark.parametrize(
    ("searcher", "reported", "told"),
    [
        (RANDOM, {"val_loss": 1.0}, "it has reported val_loss"),
        (RANDOM, None, "it has reported none"),
        (RANDOM, {"loss": 1.0}, None),
        ({"name": "single", "metric": "loss"}, {"val_loss": 1.0}, "it has reported val_loss"),
        ({"name": "single", "metric": "loss"}, None, None),
    ],
)
async def test_a_metric_that_was_never_reported_is_named_once(
    world: World, searcher: dict[str, object], reported: dict[str, float] | None, told: str | None
) -> None:
    await world.submit(searcher=searcher)
    [launch] = await world.running()
    if reported is not None:
        values = reported
        await world.write(
            lambda conn, now: metric.append_reports(
                conn, metric_trial.reporter(conn, 1), [MetricReport("validation", 1, values, 1.0)]
            )
        )
    await world.exit(launch.resource_id, 0)
    await world.until_state("COMPLETED")
    lines = [line for line in await world.log(launch.allocation_id.rpartition(".")[0]) if "never reported" in line]
    assert lines == (
        [f"validation metric 'loss' (searcher.metric) was never reported by trial 1; {told}"] if told else []
    )
