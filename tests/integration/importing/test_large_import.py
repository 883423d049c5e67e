"""Five experiments of 100,000 metrics each come in end to end: every count and sampled values are compared."""

import random

from importer import Importer

from conftest import make_source
from determined.master.db.queries import import_check, metric

_ROWS = 100_000
_TRIALS = range(101, 106)
_FILL = f"""
INSERT INTO jobs SELECT 'large-' || g, 'EXPERIMENT', 1, '' FROM generate_series(101, 105) g;
INSERT INTO experiments (id, state, config, model_definition, start_time, end_time, owner_id, project_id, job_id)
SELECT g, state, config, model_definition, start_time, end_time, 1, 1, 'large-' || g
FROM experiments, generate_series(101, 105) g WHERE id = 1;
INSERT INTO runs (id, experiment_id, state, start_time, end_time, hparams, total_batches)
SELECT g, g, 'COMPLETED', start_time, end_time, '{{}}', {_ROWS}
FROM experiments, generate_series(101, 105) g WHERE id = 1;
INSERT INTO trials_v2 SELECT g, gen_random_uuid()::text, g FROM generate_series(101, 105) g;
INSERT INTO metrics (trial_id, trial_run_id, total_batches, end_time, metric_group, partition_type, metrics)
SELECT g, 1, s, '2024-07-01Z'::timestamptz + s * interval '1 second', 'training', 'TRAINING',
       jsonb_build_object('avg_metrics', jsonb_build_object('loss', 1::float8 / s, 'seen', s * g))
FROM generate_series(101, 105) g, generate_series(1, {_ROWS}) s;
ANALYZE;
"""


def test_half_a_million_metrics_come_in(sqlite_importer: Importer, postgres_server: str) -> None:
    large = make_source(postgres_server, 10)
    large.execute(_FILL)
    events = sqlite_importer.run("--source", large.url)
    steps = events[0]["counts"]["metrics of raw_steps"]
    assert steps == len(_TRIALS) * _ROWS + large.filled.metric_rows["raw_steps"]
    stored = sqlite_importer.read(lambda conn: import_check.points(conn, _TRIALS))
    assert stored == {(id_, "training"): (_ROWS, 1, _ROWS) for id_ in _TRIALS}
    summaries = sqlite_importer.read(lambda conn: metric.summary(conn, list(_TRIALS)))
    sampler = random.Random(5)
    for id_ in _TRIALS:
        loss, seen = (summaries[id_]["avg_metrics"][name] for name in ("loss", "seen"))
        assert (loss["count"], loss["min"], loss["max"], seen["max"]) == (_ROWS, 1 / _ROWS, 1, _ROWS * id_)
        for step in sampler.sample(range(1, _ROWS + 1), 20):
            row = sqlite_importer.read(
                lambda conn, trial=id_, step=step: import_check.point(conn, trial, "training", 1, step)
            )
            assert row is not None
            assert row.metrics == {"loss": 1 / step, "seen": step * id_}
