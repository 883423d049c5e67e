"""The verification of an upstream import finds what is lost, changed or too much, and names it."""

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest
from importer import Importer
from sqlalchemy import select

from conftest import Source
from determined.master.db import log_chunk, schema

FIRST_TASK = "1.00000000-0000-4000-8000-000000000001"
OLD_TASK = "9.00000000-0000-4000-8000-000000000009"
_WRONG = '{"avg_metrics": {"loss": {"type": "number", "count": 1}}}'


@pytest.fixture(scope="module")
def unverified(source: Source, tmp_path_factory: pytest.TempPathFactory) -> tuple[Source, Path]:
    """A source, and a data directory into which all of it was imported; the verification had found a wrong summary."""
    wrong = source.copy()
    _make_old_lines(wrong)
    wrong.execute(
        "UPDATE raw_steps SET metrics = '[1]' WHERE trial_id = 5 AND total_batches IN (10, 2030) AND NOT archived"
    )
    wrong.execute(f"UPDATE runs SET summary_metrics = '{_WRONG}' WHERE id = 1")
    importer = Importer(tmp_path_factory.mktemp("unverified") / "data", None)
    (problem,) = importer.run("--source", wrong.url, status=1)[-1]["problems"]
    assert "trial 1, avg_metrics, loss" in problem, "bad rows are left out and counted, also the first and the last"
    wrong.execute("UPDATE runs SET summary_metrics = NULL")
    return wrong, importer.data


@pytest.fixture
def unfinished(sqlite_importer: Importer, unverified: tuple[Source, Path]) -> Source:
    """The source of an import that only has to be verified; nothing of it is wrong any more."""
    source, data = unverified
    shutil.copytree(data, sqlite_importer.data)
    return source


def _make_old_lines(source: Source) -> None:
    """Write lines of the older form, with line feeds where they count and where they do not."""
    head = "[2021-03-01T00:00:00Z] abcdef [rank=1] || INFO: "
    odd = [
        f"{head}two\nlines\n",
        f"{head}\n",
        "no head\nat all",
        "",
        f"{head.replace('T', chr(10), 1)}broken\nhead\n\n",
    ]
    for text in odd:
        source.execute(f"INSERT INTO trial_logs (trial_id, message) VALUES (9, convert_to('{text}', 'UTF8'))")
    source.execute("INSERT INTO trial_logs (trial_id, log) VALUES (9, '\\x5b610a5d2062207c7c200a'), (9, NULL)")


def _change(importer: Importer, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(importer.data / "master.db")) as database:
        assert database.execute(statement).rowcount > 0
        database.commit()


def _problems(importer: Importer, source: Source) -> list[str]:
    events = importer.run("--source", source.url, status=1)
    assert events[-2] == {"event": "verified", "problems": events[-1]["problems"]}
    found: list[str] = events[-1]["problems"]
    return found


def test_lines_of_every_form_are_counted_as_they_are_stored(sqlite_importer: Importer, unfinished: Source) -> None:
    assert sqlite_importer.run("--source", unfinished.url)[-1]["problems"] == []


@pytest.mark.parametrize("task", [FIRST_TASK, OLD_TASK])
def test_a_lost_log_chunk_is_found_by_the_name_of_its_task(
    sqlite_importer: Importer, unfinished: Source, task: str
) -> None:
    _change(sqlite_importer, f"DELETE FROM log_chunks WHERE task_id = '{task}'")
    problems = _problems(sqlite_importer, unfinished)
    lines = 15 if task == FIRST_TASK else 13
    assert f"task {task}: {lines} log lines, 0 are here" in problems
    assert {problem.split(",")[0].split(":")[0] for problem in problems} == {f"task {task}"}


def test_a_line_that_nobody_wrote_is_found(sqlite_importer: Importer, unfinished: Source) -> None:
    _change(sqlite_importer, f"UPDATE log_chunks SET n = n + 1 WHERE task_id = '{FIRST_TASK}'")
    assert f"task {FIRST_TASK}: 15 log lines, 16 are here" in _problems(sqlite_importer, unfinished)


def test_a_changed_log_line_is_found(sqlite_importer: Importer, unfinished: Source) -> None:
    query = select(schema.log_chunks.c.data).where(schema.log_chunks.c.task_id == FIRST_TASK)
    data = sqlite_importer.read(lambda conn: conn.execute(query).scalar_one())
    lines = log_chunk.decode(data)
    lines.texts[3] = "limes"
    _change(
        sqlite_importer,
        f"UPDATE log_chunks SET data = x'{log_chunk.encode(lines).hex()}' WHERE task_id = '{FIRST_TASK}'",
    )
    (problem,) = _problems(sqlite_importer, unfinished)
    assert problem.startswith(f"task {FIRST_TASK}, line 4: ")
    assert "'lines'" in problem
    assert "'limes'" in problem


def test_losses_and_surpluses_of_different_trials_do_not_cancel_out(
    sqlite_importer: Importer, unfinished: Source
) -> None:
    moved = "UPDATE metric_chunks SET trial_id = 3, run_id = 9 WHERE trial_id = 2 AND \"group\" = 'training'"
    _change(sqlite_importer, moved)
    problems = _problems(sqlite_importer, unfinished)
    assert "trial 2, training: 200 points from 10 to 2000, stored (0, 0, 0)" in problems
    assert "trial 3, training: 202 points from 10 to 2020, stored (402, 10, 2020)" in problems


def test_points_of_no_group_of_the_source_are_found(sqlite_importer: Importer, unfinished: Source) -> None:
    _change(sqlite_importer, "UPDATE metric_chunks SET \"group\" = 'later' WHERE \"group\" = 'late'")
    problems = _problems(sqlite_importer, unfinished)
    assert "trial 2, later: no points, stored (1, 0, 0)" in problems


def test_a_loss_in_a_series_with_bad_rows_is_found(sqlite_importer: Importer, unfinished: Source) -> None:
    _change(sqlite_importer, "UPDATE metric_chunks SET n = n - 1 WHERE trial_id = 5 AND run_id = 1")
    (problem,) = [p for p in _problems(sqlite_importer, unfinished) if "points from" in p]
    assert problem == "trial 5, training: 203 points from 10 to 2030, 2 of them left out, stored (200, 20, 2020)"


def test_rows_that_a_step_has_not_taken_are_found(sqlite_importer: Importer, unfinished: Source) -> None:
    _change(sqlite_importer, "UPDATE import_units SET rows = rows - 1 WHERE step = 'lines of task_logs'")
    assert _problems(sqlite_importer, unfinished) == ["lines of task_logs: 12 in the source, 11 taken"]
