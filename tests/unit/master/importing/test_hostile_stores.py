"""Stores of other trackers that a stranger wrote: what cannot be read is left out, and nothing is run or changed."""

import json
import sqlite3
import struct
import zlib
from pathlib import Path

import pytest

from determined.errors import InvalidArgument
from determined.master.importing.clean import MAX_DEPTH, parse_json
from determined.master.importing.sources.mlflow.mapping import MlflowSource
from determined.master.importing.sources.optuna.mapping import OptunaSource
from determined.master.importing.sources.wandb.framing import LogFile
from determined.master.importing.sources.wandb.mapping import WandbSource
from determined.master.importing.tracked import TrackedExperiment

MLFLOW = Path(__file__).parents[3] / "integration" / "importing" / "tracker_stores" / "mlflow" / "mlflow.db"
OPTUNA = Path(__file__).parents[3] / "integration" / "importing" / "tracker_stores" / "optuna" / "study.db"
DEEP = "[" * 100_000
STUDY = '{"op_code":0,"study_name":"s","directions":[1]}'


def varint(number: int) -> bytes:
    return bytes([number & 0x7F]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + varint(number >> 7)


def field(number: int, value: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(value)) + value


def item(path: list[str], text: str) -> bytes:
    return field(1, b"".join(field(2, part.encode()) for part in path) + field(16, text.encode()))


def record(kind: int, data: bytes) -> bytes:
    return struct.pack("<IHB", zlib.crc32(data, zlib.crc32(bytes([kind]))), len(data), kind) + data


def wandb(directory: Path, *messages: bytes) -> TrackedExperiment:
    run = field(17, field(1, b"r1") + field(3, b"p") + field(8, b"n"))
    log, messages = struct.pack("<4sHB", b":W&B", 0xBEE1, 0), (run, *messages)
    for message in messages:
        parts = [message[at : at + 1000] for at in range(0, len(message), 1000)]
        for n, part in enumerate(parts):
            kind = 1 if len(parts) == 1 else 2 if n == 0 else 4 if n == len(parts) - 1 else 3
            room = 32768 - len(log) % 32768
            if room < 1007:
                log += bytes(room)
            log += record(kind, part)
    (directory / "run-r1.wandb").write_bytes(log)
    (experiment,) = WandbSource(str(directory)).experiments()
    return experiment


@pytest.mark.parametrize(
    "message",
    [
        field(5, item(["lr"], DEEP)),
        field(5, item(["lr"], "[" * 900 + "]" * 900)),
        field(5, item(["lr"] * 20_000, "1")),
        field(2, item(["_step"], "Infinity") + item(["loss"], "1.0")),
        field(2, item(["_step"], "1") + item(["loss"] * 20_000, "1.0")),
        field(13, field(1, b"no number") + field(3, b"text")),
        field(13, field(2, b"\xff\xff") + field(3, b"text")),
    ],
)
def test_bad_records_of_wandb_are_left_out(tmp_path: Path, message: bytes) -> None:
    good = field(2, item(["_step"], "3") + item(["loss"], "0.5"))
    (trial,) = wandb(tmp_path, message, good).trials
    assert [(report.step, report.metrics) for report in trial.reports()] == [(3, {"loss": 0.5})]
    assert list(trial.logs()) == []


def test_a_message_of_wandb_that_never_ends_is_not_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.master.importing.sources.wandb.framing._LONGEST", 2500)
    path = tmp_path / "run-r1.wandb"
    parts = [record(2, bytes(1000)), *[record(3, bytes(1000))] * 20, record(4, b"end"), record(1, b"next")]
    path.write_bytes(struct.pack("<4sHB", b":W&B", 0xBEE1, 0) + b"".join(parts))
    log = LogFile(path)
    assert list(log.messages()) == [b"next"]
    assert log.damage == ["run-r1.wandb: a record is longer than 2500 bytes"]


@pytest.mark.parametrize(
    "line",
    [
        DEEP,
        '{"op_code":8,"trial_id":0,"user_attr":{"a":' + "[" * 800 + "]" * 800 + "}}",
        '{"op_code":4,"study_id":0,"user_attrs":[1]}',
        '{"op_code":4,"study_id":0,"state":9}',
        '{"op_code":0,"study_name":["t"],"directions":7}',
    ],
)
def test_bad_lines_of_a_journal_are_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "journal.log").write_text("\n".join([STUDY, '{"op_code":4,"study_id":0,"state":1}', line]))
    (study,) = OptunaSource(str(tmp_path / "journal.log")).experiments()
    assert len(study.trials) == 1
    assert [note.rule.name for note in study.findings] == ["optuna_damaged"]


def test_times_that_no_calendar_has_are_none(tmp_path: Path) -> None:
    times = {"datetime_start": "0001-01-01T00:00:00+14:00", "datetime_complete": "yesterday"}
    (tmp_path / "journal.log").write_text(f"{STUDY}\n{json.dumps({'op_code': 4, 'study_id': 0, 'state': 1, **times})}")
    (study,) = OptunaSource(str(tmp_path / "journal.log")).experiments()
    assert (study.trials[0].started_at, study.trials[0].ended_at) == (None, None)


def changed(path: Path, copy: Path, *statements: str) -> None:
    copy.write_bytes(path.read_bytes())
    with sqlite3.connect(copy) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE metrics SET step = 'one' WHERE rowid = 1",
        "UPDATE metrics SET timestamp = 'now' WHERE rowid = 1",
        "UPDATE metrics SET key = x'ff' WHERE rowid = 1",
        "UPDATE latest_metrics SET key = x'ff' WHERE rowid = 1",
        "UPDATE runs SET start_time = 'now', name = x'ff'",
        "UPDATE params SET value = x'ff', key = 7 WHERE rowid = 1",
    ],
)
def test_columns_of_other_types_do_not_end_an_import_of_mlflow(tmp_path: Path, statement: str) -> None:
    changed(MLFLOW, tmp_path / "mlflow.db", "PRAGMA foreign_keys = OFF", statement)
    experiments = list(MlflowSource(f"sqlite:///{tmp_path / 'mlflow.db'}").experiments())
    assert sum(len(list(trial.reports())) for one in experiments for trial in one.trials) > 5


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE studies SET study_name = x'ff' WHERE study_id = 1",
        "UPDATE trials SET datetime_start = '2026-13-01', datetime_complete = 7",
        "UPDATE trial_user_attributes SET value_json = x'ff'",
        f"UPDATE trial_user_attributes SET value_json = '{DEEP}'",
        "UPDATE trial_intermediate_values SET step = 'one' WHERE rowid = 1",
        "UPDATE trial_params SET distribution_json = '[1]'",
    ],
)
def test_columns_of_other_types_do_not_end_an_import_of_optuna(tmp_path: Path, statement: str) -> None:
    changed(OPTUNA, tmp_path / "study.db", "PRAGMA foreign_keys = OFF", "PRAGMA ignore_check_constraints = ON")
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE type = 'table'")
    connection.close()
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute(statement)
    connection.close()
    studies = list(OptunaSource(f"sqlite:///{tmp_path / 'study.db'}").experiments())
    assert sum(len(list(trial.reports())) for one in studies for trial in one.trials) > 3


def test_a_database_with_views_is_refused(tmp_path: Path) -> None:
    """A view that calls itself has no end."""
    endless = "WITH RECURSIVE r(i, n) AS (SELECT 1, 'a' UNION ALL SELECT i + 1, n FROM r) SELECT * FROM r"
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute(f"CREATE VIEW studies AS {endless}")
    connection.close()
    with pytest.raises(InvalidArgument, match=r"has views or virtual tables \(studies\)"):
        list(OptunaSource(f"sqlite:///{tmp_path / 'study.db'}").experiments())


def test_reading_a_database_in_wal_mode_leaves_no_files_beside_it(tmp_path: Path) -> None:
    """Files of another user there would keep the program whose database it is from opening it."""
    changed(OPTUNA, tmp_path / "a study#.db", "PRAGMA journal_mode = WAL")
    assert [path.name for path in tmp_path.iterdir()] == ["a study#.db"]
    assert len(list(OptunaSource(f"sqlite:///{tmp_path / 'a study#.db'}").experiments())) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a study#.db"]


def test_json_is_parsed_to_some_depth() -> None:
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None
    for text in ("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2), DEEP, '{"a":' * 500 + "1" + "}" * 500):
        with pytest.raises(ValueError, match="nested"):
            parse_json(text)
