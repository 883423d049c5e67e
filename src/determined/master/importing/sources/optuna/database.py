"""Studies of Optuna's relational storage."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.master.importing.clean import parse_json
from determined.master.importing.read_only_database import rows, text_of
from determined.master.importing.sources.optuna.stored import StoredStudy, StoredTrial, utc

_NUMBERS = {"INF_POS": math.inf, "INF_NEG": -math.inf, "NAN": math.nan}

_STUDIES = "SELECT study_id, study_name FROM studies ORDER BY study_id"
_DIRECTIONS = "SELECT direction FROM study_directions WHERE study_id = :study ORDER BY objective"
_STUDY_ATTRS = "SELECT key, value_json FROM study_user_attributes WHERE study_id = :study ORDER BY key"
_TRIALS = """
SELECT trial_id, number, state, datetime_start, datetime_complete FROM trials
WHERE study_id = :study ORDER BY number, trial_id
"""
_PARAMS = """
SELECT p.trial_id, p.param_name, p.param_value, p.distribution_json
FROM trial_params p JOIN trials t ON t.trial_id = p.trial_id WHERE t.study_id = :study ORDER BY p.param_id
"""
_VALUES = """
SELECT v.trial_id, v.value, v.value_type
FROM trial_values v JOIN trials t ON t.trial_id = v.trial_id WHERE t.study_id = :study ORDER BY v.objective
"""
_INTERMEDIATE = """
SELECT v.trial_id, v.step, v.intermediate_value, v.intermediate_value_type
FROM trial_intermediate_values v JOIN trials t ON t.trial_id = v.trial_id WHERE t.study_id = :study ORDER BY v.step
"""
_USER_ATTRS = """
SELECT a.trial_id, a.key, a.value_json
FROM trial_user_attributes a JOIN trials t ON t.trial_id = a.trial_id WHERE t.study_id = :study ORDER BY a.key
"""
_SYSTEM_ATTRS = _USER_ATTRS.replace("trial_user_attributes", "trial_system_attributes")


def studies(connection: Connection) -> Iterator[StoredStudy]:
    """Read the studies one after the other; one is in memory at a time."""
    for study_id, name in _rows(connection, _STUDIES):
        study = StoredStudy(study_id, text_of(name), [row[0] for row in _rows(connection, _DIRECTIONS, study_id)])
        for key, value in _rows(connection, _STUDY_ATTRS, study_id):
            _set_attribute(study, study.user_attrs, key, value)
        study.trials = _trials(connection, study)
        yield study


def _trials(connection: Connection, study: StoredStudy) -> list[StoredTrial]:
    trials = {
        row[0]: StoredTrial(row[0], row[1], row[2], utc(row[3]), utc(row[4]))
        for row in _rows(connection, _TRIALS, study.id)
    }
    for trial, name, value, distribution in _of_trials(connection, _PARAMS, study, trials):
        trial.params[name] = (value, distribution)
    for trial, value, kind in _of_trials(connection, _VALUES, study, trials):
        trial.values.append(_NUMBERS.get(kind, value))
    for trial, step, value, kind in _of_trials(connection, _INTERMEDIATE, study, trials):
        if isinstance(step, int):
            trial.intermediate_values[step] = _NUMBERS.get(kind, value)
        else:
            study.damage.append(f"step {step!r} is no number")
    for trial, key, value in _of_trials(connection, _USER_ATTRS, study, trials):
        _set_attribute(study, trial.user_attrs, key, value)
    for trial, key, value in _of_trials(connection, _SYSTEM_ATTRS, study, trials):
        _set_attribute(study, trial.system_attrs, key, value)
    return list(trials.values())


def _of_trials(
    connection: Connection, query: str, study: StoredStudy, trials: Mapping[int, StoredTrial]
) -> Iterator[tuple[Any, ...]]:
    """Yield rows with their trial in front. Rows of trials that the study got since `trials` were read are left out.

    A transaction would show one state, but a file of SQLite that is being read lets no other program write.
    """
    for trial_id, *rest in _rows(connection, query, study.id):
        if trial_id in trials:
            yield trials[trial_id], *rest


def _set_attribute(study: StoredStudy, attributes: JsonObject, key: str, value: str) -> None:
    try:
        attributes[text_of(key)] = parse_json(text_of(value))
    except ValueError:
        study.damage.append(f"attribute {key!r} is no JSON")


def _rows(connection: Connection, query: str, study_id: int | None = None) -> list[Any]:
    return rows(connection, query, **({} if study_id is None else {"study": study_id}))
