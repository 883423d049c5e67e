"""Rows of upstream as rows of ours."""

import json
import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from determined.config import ExperimentConfig
from determined.errors import InvalidArgument
from determined.master.db import metric_chunk
from determined.master.importing.mapped_config import map_config
from determined.master.importing.mapped_state import mapped_state, was_live
from determined.master.importing.notes import Tally
from determined.master.importing.sources.upstream.mapping.checkpoint import map_storage
from determined.master.importing.sources.upstream.mapping.log import map_line
from determined.master.importing.sources.upstream.mapping.metric import pack, values_of
from determined.master.importing.sources.upstream.reading.logs import LogRow
from determined.master.importing.sources.upstream.source import Source, without_password

STORAGE = {"type": "shared_fs", "host_path": "/mnt"}
VALID: dict[str, Any] = {
    "name": "n",
    "entrypoint": "python3 train.py",
    "hyperparameters": {},
    "searcher": {"name": "single", "metric": "loss"},
    "checkpoint_storage": STORAGE,
}


def test_a_valid_config_keeps_all_and_gets_defaults() -> None:
    mapped = map_config(json.dumps(VALID), "x")
    assert mapped.problems == []
    assert (mapped.active["name"], mapped.active["max_restarts"]) == ("n", 5)


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"max_restarts": -4}, "name"),
        ({"searcher": "single"}, "hyperparameters"),
        ({"searcher": {"name": "gone", "metric": "acc", "smaller_is_better": False}}, "name"),
        ({"no_such_key": 1}, "name"),
        ({"checkpoint_storage": {"type": "hdfs", "hdfs_url": "x"}}, "name"),
    ],
)
def test_an_invalid_section_is_replaced_and_named(change: dict[str, Any], kept: str) -> None:
    mapped = map_config(json.dumps({**VALID, **change}), "x")
    assert any(next(iter(change)) in problem for problem in mapped.problems)
    assert mapped.active[kept] == VALID[kept]
    ExperimentConfig.load(mapped.active)


def test_the_metric_of_an_unknown_searcher_is_kept() -> None:
    searcher = {"name": "gone", "metric": "acc", "smaller_is_better": False}
    active = map_config(json.dumps({**VALID, "searcher": searcher}), "x").active
    assert (active["searcher"]["metric"], active["searcher"]["smaller_is_better"]) == ("acc", False)


@pytest.mark.parametrize("text", [None, "null", '"words"', "[1]", '{"a": 1e999}', "{"])
def test_what_is_no_config_becomes_a_config_of_defaults(text: str | None) -> None:
    mapped = map_config(text, "x")
    assert mapped.problems
    assert ExperimentConfig.load(mapped.active).searcher.metric == "validation_loss"


def test_states_that_a_master_would_act_on_do_not_come_in() -> None:
    assert mapped_state("ACTIVE", unmanaged=False) == "CANCELED"
    assert mapped_state("STOPPING_COMPLETED", unmanaged=False) == "CANCELED"
    assert mapped_state("RUNNING", unmanaged=True) == "ACTIVE"
    assert mapped_state("DELETING", unmanaged=False) == "DELETE_FAILED"
    assert mapped_state("COMPLETED", unmanaged=True) == "COMPLETED"
    assert was_live("PAUSED", unmanaged=False)
    assert not was_live("DELETING", unmanaged=False)


def test_strings_for_nan_and_infinities_become_numbers_at_any_depth() -> None:
    values, batches = values_of(
        '{"avg_metrics": {"a": "NaN", "b": {"c": ["-Infinity", "x"]}}, "batch_metrics": [{"d": 1}]}'
    )
    assert math.isnan(values["a"])
    assert values["b"] == {"c": [-math.inf, "x"]}
    assert batches == [{"d": 1}]


def test_numbers_beyond_sixty_four_bits_become_floats() -> None:
    values, _ = values_of(f'{{"validation_metrics": {{"a": {2**70}, "b": {-(2**63)}}}}}')
    assert values == {"a": float(2**70), "b": -(2**63)}
    assert isinstance(values["a"], float)


@pytest.mark.parametrize("text", ["{}", "[]", '{"avg_metrics": [1]}', '{"num_inputs": 3}', "null"])
def test_metrics_of_another_form_are_left_out_and_counted(text: str) -> None:
    tally = Tally()
    packed = pack([(1, 1, "training", _block([5], text))], tally)
    assert (packed.chunks, packed.rows) == ([], 1)
    assert tally.counts == {"bad_metrics": 1}


def test_a_report_that_cannot_be_read_does_not_cost_its_neighbors() -> None:
    tally = Tally()
    rows = [
        (4, "4.5", '{"avg_metrics": {"loss": "NaN", "seen": 4}}'),
        (3, "3.5", '{"avg_metrics": {"loss": 1e400, "seen": 3}}'),
        (2, "2.5", '{"avg_metrics": null}'),
        (1, "1.5", '{"avg_metrics": {"loss": 0.5, "seen": 1}, "batch_metrics": [{"loss": "Infinity"}]}'),
        (0, "null", '{"avg_metrics": {"loss": 0.5}}'),
    ]
    block = ",".join(f"[{step},{time},{body}]" for step, time, body in rows)
    packed = pack([(1, 1, "training", f"[{block}]".encode())], tally)
    stored = metric_chunk.decode(packed.chunks[0]["data"])
    assert [(row.step, row.time, row.metrics["seen"]) for row in stored] == [(1, 1.5, 1), (3, 3.5, 3), (4, 4.5, 4)]
    assert math.isnan(stored[2].metrics["loss"])
    assert stored[0].batch_metrics == [{"loss": math.inf}]
    assert (packed.rows, tally.counts) == (5, {"bad_metrics": 2})


def test_columns_of_every_kind_come_as_they_were_reported() -> None:
    reported: list[dict[str, Any]] = [
        {"f": 0.5, "i": 1, "big": 2**70, "nan": "NaN", "mixed": 1, "b": True, "deep": {"x": ["-Infinity"]}},
        {"f": 1.5, "i": 2, "big": 2, "nan": 1.0, "mixed": 1.5, "b": None, "deep": [1], "only here": "text"},
    ]
    rows = [[step, 1.0, {"avg_metrics": metrics}] for step, metrics in enumerate(reported)]
    packed = pack([(1, 1, "training", json.dumps(rows).encode())], Tally())
    first, second = metric_chunk.decode(packed.chunks[0]["data"])
    assert math.isnan(first.metrics.pop("nan"))
    assert repr(first.metrics) == repr(
        {"f": 0.5, "i": 1, "big": float(2**70), "mixed": 1, "b": True, "deep": {"x": [-math.inf]}}
    )
    assert second.metrics == reported[1]


def test_wide_reports_are_packed_in_small_chunks() -> None:
    body = json.dumps({"avg_metrics": {f"m{i}": 0.5 for i in range(1000)}})
    packed = pack([(1, 1, "training", _block(range(100), body))], Tally())
    assert [chunk["n"] for chunk in packed.chunks] == [65, 35]


def _block(steps: Iterable[int], body: str) -> bytes:
    return f"[{','.join(f'[{step},{float(step)},{body}]' for step in steps)}]".encode()


def test_rows_are_packed_in_chunks_of_their_series() -> None:
    body = '{"avg_metrics": {"loss": 0.5, "acc": 1}}'
    blocks = [
        (1, 1, "a.b", _block(range(600), body)),
        (1, 2, "a.b", _block(range(3), body)),
        (2, 1, "a.b", _block([7], body)),
    ]
    tally = Tally()
    packed = pack(blocks, tally)
    assert [(c["trial_id"], c["run_id"], c["n"]) for c in packed.chunks] == [
        (1, 1, 512),
        (1, 1, 88),
        (1, 2, 3),
        (2, 1, 1),
    ]
    assert packed.spans[1, 1, "a_b"] == (0, 599)
    assert packed.summaries[1, "a_b"]["loss"].count == 603
    assert (packed.rows, packed.values) == (604, 1208)
    assert metric_chunk.decode(packed.chunks[1]["data"])[0].step == 512
    assert tally.counts["group_name"] == 4


def test_a_storage_path_outside_of_its_host_path_wins() -> None:
    assert map_storage({"type": "shared_fs", "host_path": "/a", "storage_path": "/b/"}) == {
        "type": "shared_fs",
        "host_path": "/b",
    }
    kept = {"type": "shared_fs", "host_path": "/a", "storage_path": "b"}
    assert map_storage({**kept, "propagation": None}) == kept


def _line(**values: Any) -> LogRow:
    empty = dict.fromkeys(LogRow.__struct_fields__)
    return LogRow(**{**empty, "trial_id": 1, "id": 1, "time": datetime(2024, 1, 1, tzinfo=UTC), **values})


def test_a_row_of_several_lines_is_a_record_each_and_bad_bytes_are_replaced() -> None:
    records, is_bad = map_line(_line(log=b"a\xff\n\0b\n", level="WARNING", rank_id=2))
    assert [line.text for _, line in records] == ["a�", "�b"]
    assert is_bad
    assert {(line.level, origin.rank) for origin, line in records} == {("WARNING", 2)}


def test_the_older_form_of_a_line_is_taken_apart() -> None:
    (origin, line), *_ = map_line(_line(message=b"[2021-03-01T00:00:00Z] 4f00 [rank=3] || ERROR: words: more\n"))[0]
    assert (line.text, line.level, origin.rank) == ("words: more", "ERROR", 3)
    assert map_line(_line(message=b"just words"))[0][0][1].text == "just words"


def test_a_source_that_is_no_url_is_refused_without_repeating_it() -> None:
    with pytest.raises(InvalidArgument) as refused:
        Source("host=db user=det password=s3cret dbname=d")
    assert "must be a URL" in str(refused.value) and "s3cret" not in str(refused.value)


def test_an_address_is_shown_without_its_password() -> None:
    assert without_password("postgresql://me:secret@db:5432/det?password=x") == "postgresql://me@db:5432/det"
    assert without_password("postgresql://db/det") == "postgresql://db/det"
