"""Tables of a bundle: what goes in comes out in either form, and other columns are refused."""

import io
import math
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from determined.bundle import columns, tables
from determined.bundle.columns import METRICS, TRIALS, Column, Kind, Report, add_value, metric_rows
from determined.bundle.layout import JSON_LINES, PARQUET
from determined.errors import InvalidArgument
from determined.wire.trial_record import TaskRecord, TrialRecord

TIME = "2026-03-01T12:00:00.123457Z"
FORMS = pytest.mark.parametrize("form", [PARQUET, JSON_LINES])


def through(rows: list[list[Any]], which: tuple[Column, ...], form: str) -> list[dict[str, Any]]:
    file = io.BytesIO()
    table = tables.writer(file, which, form)
    for row in rows:
        table.add(row)
    table.close()
    file.seek(0)
    return list(tables.rows(file, which, form, "t", table.unpacked))


def report_of(rows: list[dict[str, Any]]) -> Report:
    report = Report(rows[0]["trial"], rows[0]["run"], rows[0]["step"], rows[0]["time"], {})
    for row in rows:
        add_value(report, row["name"], row["value"], row["text"])
    return report


_scalars = st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats() | st.text(max_size=5)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


@FORMS
@settings(deadline=None, max_examples=50)
@given(metrics=st.dictionaries(st.text(max_size=8), _values, max_size=4), batched=st.booleans())
def test_values_of_every_kind_come_back(form: str, metrics: dict[str, Any], batched: bool) -> None:
    batches: list[dict[str, Any]] | None = [{"a": math.inf}, {}] if batched else None
    report = Report(1, 2, 3, TIME, columns.plain(metrics), batches)
    back = report_of(through([list(row) for row in metric_rows(report)], METRICS, form))
    assert repr(sorted(back.metrics.items())) == repr(sorted(report.metrics.items())), "repr: NaN is not itself"
    assert (back.batches, back.time) == (batches, TIME)


@FORMS
def test_a_trial_comes_back(form: str) -> None:
    trial = TrialRecord(
        id=1,
        request_id="r",
        task_id="1.r",
        state="COMPLETED",
        hparams={"whole": 3.0, "n": 3, "nested": {"a": [None, True]}},
        seed=2**62,
        run_id=1,
        restarts=0,
        start_time=TIME,
        steps_completed=7,
        best_validation_value="NaN",
        tasks=[TaskRecord(id="1.r", start_time=TIME, log_lines=3)],
    )
    (row,) = through([list(columns.trial_row(trial).values())], TRIALS, form)
    back = columns.trial_of(row)
    assert math.isnan(float(back.best_validation_value or 0))
    back.best_validation_value = "NaN"
    assert back == trial


def test_only_these_kinds_of_columns_are_known() -> None:
    kinds = {column.name: column.kind for column in TRIALS}
    assert kinds["seed"] == kinds["latest_validation_step"] == Kind.INT
    assert (kinds["hparams"], kinds["archived"], kinds["last_activity"]) == (Kind.JSON, Kind.BOOL, Kind.TIME)


@FORMS
def test_a_table_of_other_columns_is_refused(form: str) -> None:
    file = io.BytesIO()
    table = tables.writer(file, (Column("other", Kind.INT),), form)
    table.add([1])
    table.close()
    file.seek(0)
    with pytest.raises(InvalidArgument, match="columns"):
        list(tables.rows(file, METRICS, form, "t", table.unpacked))


def test_what_is_no_parquet_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="cannot be read"):
        list(tables.rows(io.BytesIO(b"PAR1 but no more"), METRICS, PARQUET, "t", None))


def test_texts_that_unpack_to_far_more_than_the_file_are_refused() -> None:
    file = io.BytesIO()
    table = tables.writer(file, METRICS, PARQUET)
    for n in range(3000):
        table.add([1, 1, n, TIME, "a", None, '"' + "x" * 100_000 + '"'])
    table.close()
    assert file.tell() < 300_000
    with pytest.raises(InvalidArgument, match="no export writes such texts"):
        list(tables.rows(file, METRICS, PARQUET, "t", None))


def test_many_rows_come_back_in_their_order() -> None:
    rows = [[1, 1, n, TIME, "loss", n / 3, None] for n in range(150_000)]
    assert [row["step"] for row in through(rows, METRICS, PARQUET)] == list(range(150_000))


def test_without_pyarrow_tables_are_json_lines_and_parquet_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tables.form_here() == PARQUET
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert tables.form_here() == JSON_LINES
    with pytest.raises(ImportError, match=r"redetermined\[parquet\]"):
        tables.writer(io.BytesIO(), METRICS, PARQUET)
    with pytest.raises(ImportError, match=r"redetermined\[parquet\]"):
        list(tables.rows(io.BytesIO(), METRICS, PARQUET, "t", None))
