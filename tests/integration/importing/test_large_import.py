"""Five experiments of 100,000 metrics each come in end to end, also through kills: counts and samples are compared."""

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from importer import Importer, content

from conftest import Source, make_source
from determined.master.db.queries import import_check, imported, metric

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


@dataclass(frozen=True)
class Whole:
    """An import that nobody interrupted."""

    importer: Importer
    events: list[dict[str, Any]]


@pytest.fixture(scope="module")
def large(postgres_server: str) -> Source:
    made = make_source(postgres_server, 10)
    made.execute(_FILL)
    return made


@pytest.fixture(scope="module")
def whole(large: Source, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    importer = Importer(tmp_path_factory.mktemp("whole") / "data", None)
    return Whole(importer, importer.run("--source", large.url))


def test_half_a_million_metrics_come_in(whole: Whole, large: Source) -> None:
    steps = whole.events[0]["counts"]["metrics of raw_steps"]
    assert steps == len(_TRIALS) * _ROWS + large.filled.metric_rows["raw_steps"]
    assert whole.events[-1]["problems"] == []
    stored = whole.importer.read(lambda conn: import_check.points(conn, _TRIALS))
    assert stored == {(id_, "training"): (_ROWS, 1, _ROWS) for id_ in _TRIALS}
    summaries = whole.importer.read(lambda conn: metric.summary(conn, list(_TRIALS)))
    sampler = random.Random(5)
    for id_ in _TRIALS:
        loss, seen = (summaries[id_]["avg_metrics"][name] for name in ("loss", "seen"))
        assert (loss["count"], loss["min"], loss["max"], seen["max"]) == (_ROWS, 1 / _ROWS, 1, _ROWS * id_)
        for step in sampler.sample(range(1, _ROWS + 1), 20):
            row = whole.importer.read(
                lambda conn, trial=id_, step=step: import_check.point(conn, trial, "training", 1, step)
            )
            assert row is not None
            assert row.metrics == {"loss": 1 / step, "seen": step * id_}


def test_every_count_of_the_report_agrees_with_source_and_target(whole: Whole, large: Source) -> None:
    path = next(path for path in whole.events[-1]["files"] if path.endswith("report.json"))
    report = json.loads(Path(path).read_text())
    assert whole.events[0]["counts"] == report["survey"]["counts"]
    assert {step: report["taken"].get(step, 0) for step in report["survey"]["counts"]} == report["survey"]["counts"]
    for table in ("experiments", "runs"):
        expected = large.count(table)
        ours = "trials" if table == "runs" else table
        assert whole.importer.read(lambda conn, t=ours: imported.count(conn, t)) == expected  # type: ignore[misc]


@pytest.mark.timeout(1800)
def test_killed_at_twenty_random_moments_it_ends_the_same(
    whole: Whole, large: Source, sqlite_importer: Importer
) -> None:
    chance = random.Random(17)
    for _ in range(20):  # some 250 units of metrics are stored in all
        killed = sqlite_importer.kill_after_units(chance.randint(0, 9), chance.uniform(0, 0.1), "--source", large.url)
        assert killed, "it ended before it was killed"
    assert sqlite_importer.read(lambda conn: imported.count(conn, "metric_chunks")) > 0
    events = sqlite_importer.run("--source", large.url)
    assert events[-1]["problems"] == []
    assert sqlite_importer.read(content) == whole.importer.read(content)
