"""Studies of real Optuna storages (tracker_stores of tests/integration/importing) become experiments."""

import math
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from determined.errors import DeterminedError
from determined.master.importing.sources.optuna import database
from determined.master.importing.sources.optuna.mapping import OptunaSource, parameter
from determined.master.importing.tracked import TrackedExperiment
from determined.master.lifecycle.states import State

STORES = Path(__file__).parents[3] / "integration" / "importing" / "tracker_stores" / "optuna"
SOURCES = {"database": f"sqlite:///{STORES / 'study.db'}", "journal": str(STORES / "journal.log")}


@pytest.fixture(params=SOURCES)
def experiments(request: pytest.FixtureRequest) -> list[TrackedExperiment]:
    return list(OptunaSource(SOURCES[request.param]).experiments())


def test_a_study_is_an_experiment_with_its_direction(experiments: list[TrackedExperiment]) -> None:
    study, pair = experiments
    assert (study.name, study.project, study.metric, study.smaller_is_better) == (
        "vision/lr",
        "vision/lr",
        "value",
        True,
    )
    assert (pair.metric, pair.smaller_is_better) == ("value_0", True)
    assert study.notes == 'owner: "ada"'


def test_states_follow_those_of_the_trials(experiments: list[TrackedExperiment]) -> None:
    trials = experiments[0].trials
    assert [trial.state for trial in trials] == [
        State.COMPLETED,
        State.COMPLETED,
        State.ERROR,
        State.COMPLETED,
        State.CANCELED,
    ]
    assert [trial.early_stopped for trial in trials] == [False, True, False, False, False]
    rules = [note.rule.name for note in experiments[0].findings]
    assert rules == ["optuna_running", "optuna_waiting"]


def test_parameters_are_those_that_the_objective_got(experiments: list[TrackedExperiment]) -> None:
    hparams = experiments[0].trials[0].hparams
    assert hparams == {"lr": pytest.approx(0.00046568046379195655), "layers": 3, "optimizer": "adam"}
    assert isinstance(hparams["layers"], int)
    assert experiments[0].trials[1].hparams["optimizer"] is None
    assert experiments[0].trials[0].metadata["note"] == {"layers": 3}


def test_values_are_validation_metrics_by_step(experiments: list[TrackedExperiment]) -> None:
    complete, pruned = (list(trial.reports()) for trial in experiments[0].trials[:2])
    assert [(report.group, report.step) for report in complete] == [("validation", step) for step in range(4)]
    assert complete[-1].metrics == {"value": pytest.approx(1.001397041391376)}
    assert complete[-1].time == experiments[0].trials[0].ended_at
    assert [report.step for report in pruned] == [0, 1, 2]
    intermediate = [*complete[:-1], *pruned]
    assert {name for report in intermediate for name in report.metrics} == {"intermediate_value"}, "no final values"
    (both,) = experiments[1].trials[0].reports()
    assert both.metrics == {"value_0": 1.5, "value_1": 0.25}


def test_values_that_are_no_finite_numbers_stay(experiments: list[TrackedExperiment]) -> None:
    nan, infinite = experiments[0].trials[4].reports()
    assert math.isnan(nan.metrics["intermediate_value"])
    assert infinite.metrics["intermediate_value"] == math.inf


def test_times_are_in_utc(experiments: list[TrackedExperiment]) -> None:
    started = experiments[0].trials[0].started_at
    assert started is not None
    assert started.utcoffset() is not None
    assert (started.year, started.hour) == (2026, 15)


def test_a_damaged_journal_gives_what_can_be_read(tmp_path: Path) -> None:
    journal = tmp_path / "journal.log"
    content = (STORES / "journal.log").read_bytes()
    journal.write_bytes(b"no json\n" + content[:-20])
    study, pair = OptunaSource(str(journal)).experiments()
    assert len(study.trials) == 5
    assert [trial.state for trial in pair.trials] == [State.COMPLETED, State.CANCELED]
    assert sum(note.rule.name == "optuna_damaged" for note in study.findings) == 2


def test_the_database_is_not_written(tmp_path: Path) -> None:
    copy = tmp_path / "study.db"
    shutil.copy(STORES / "study.db", copy)
    copy.chmod(0o444)
    before = copy.read_bytes()
    assert len(list(OptunaSource(f"sqlite:///{copy}").experiments())) == 2
    assert copy.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


@pytest.mark.parametrize("journal_mode", ["DELETE", "WAL"])
@pytest.mark.parametrize("query", ["_TRIALS", "_PARAMS", "_VALUES", "_INTERMEDIATE", "_USER_ATTRS"])
def test_a_study_that_gets_a_trial_while_it_is_read_is_taken_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str, journal_mode: str
) -> None:
    path = tmp_path / "study.db"
    shutil.copy(STORES / "study.db", path)
    real = database.rows
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as optuna:
        optuna.execute(f"PRAGMA journal_mode = {journal_mode}")

        def rows(connection: Any, statement: str, **values: Any) -> list[Any]:
            found = real(connection, statement, **values)
            if statement == getattr(database, query):
                add_trial(optuna, values["study"])  # fails at once where the reader keeps it from writing
            return found

        monkeypatch.setattr(database, "rows", rows)
        first, second = OptunaSource(f"sqlite:///{path}").experiments()
        assert (len(first.trials), len(second.trials)) == (5, 2)
        assert optuna.execute("SELECT count(*) FROM trials WHERE number = 99").fetchone() == (2,)


def add_trial(optuna: sqlite3.Connection, study: int) -> None:
    added = optuna.execute("INSERT INTO trials (study_id, number, state) VALUES (?, 99, 'RUNNING')", (study,))
    trial = added.lastrowid
    distribution = '{"name": "FloatDistribution", "attributes": {"low": 0, "high": 1, "step": null, "log": false}}'
    for table, columns, row in (
        ("trial_params", "trial_id, param_name, param_value, distribution_json", (trial, "lr", 0.5, distribution)),
        ("trial_values", "trial_id, objective, value, value_type", (trial, 0, 0.5, "FINITE")),
        (
            "trial_intermediate_values",
            "trial_id, step, intermediate_value, intermediate_value_type",
            (trial, 0, 0.5, "FINITE"),
        ),
        ("trial_user_attributes", "trial_id, key, value_json", (trial, "k", "1")),
        ("trial_system_attributes", "trial_id, key, value_json", (trial, "k", "1")),
    ):
        optuna.execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(row))})", row)


@pytest.mark.parametrize("source", ["sqlite:///missing.db", "missing.log", "mysql://user:secret@host/db"])
def test_a_source_that_is_none_is_refused_without_its_secrets(source: str) -> None:
    with pytest.raises(DeterminedError) as raised:
        list(OptunaSource(source).experiments())
    assert "secret" not in raised.value.message


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with pytest.raises(DeterminedError, match="studies"):
        list(OptunaSource(f"sqlite:///{tmp_path / 'empty.db'}").experiments())


def test_a_database_can_be_named_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(STORES)
    by_path, by_url = OptunaSource("study.db"), OptunaSource(SOURCES["database"])
    assert len(list(by_path.experiments())) == 2
    assert by_path.identity == by_url.identity, "a second import finds what the first has stored"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x89PNG\nno json\n", "its first line is not JSON"),
        (b"", "it is empty"),
        (b'{"a": 1}\n[]\n{"op_code": "x"}\n', "no line of it is an operation"),
    ],
)
def test_a_file_that_is_no_journal_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "journal.log").write_bytes(content)
    with pytest.raises(DeterminedError, match=f"journal.log' is no journal of Optuna: {reason}"):
        list(OptunaSource(str(tmp_path / "journal.log")).experiments())


def test_the_address_has_no_password() -> None:
    assert OptunaSource("postgresql://ada:secret@db/optuna").address == "postgresql://ada@db/optuna"


@pytest.mark.parametrize(
    ("internal", "distribution", "value"),
    [
        (2.0, '{"name": "IntLogUniformDistribution", "attributes": {"low": 1, "high": 4}}', 2),
        (0.5, '{"type": "float", "low": 0, "high": 1}', 0.5),
        (1.0, '{"type": "categorical", "choices": ["a", "b"]}', "b"),
        (9.0, '{"type": "categorical", "choices": ["a", "b"]}', 9.0),
        (9.0, "no json", 9.0),
    ],
)
def test_distributions_of_all_versions_are_decoded(internal: float, distribution: str, value: object) -> None:
    assert parameter(internal, distribution) == value
