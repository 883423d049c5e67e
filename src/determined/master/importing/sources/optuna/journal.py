"""Studies of Optuna's journal file: a line of JSON for each operation, applied in order.

Ids are not written: studies and trials are numbered in the order in which they were created.
"""

from collections.abc import Callable
from pathlib import Path

from determined._json import JsonObject
from determined.errors import InvalidArgument
from determined.master.importing.clean import parse_json
from determined.master.importing.sources.optuna.stored import StoredStudy, StoredTrial, utc

_DIRECTIONS = ("NOT_SET", "MINIMIZE", "MAXIMIZE")
_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_LONGEST = 1 << 20  # bytes of a first line that are looked at
_ENDED = frozenset({"COMPLETE", "PRUNED", "FAIL"})


def studies(path: Path) -> list[StoredStudy]:
    """Apply the operations of a journal. Lines that cannot be read become damage of the first study.

    Raises:
        InvalidArgument: no line is an operation.
    """
    journal = _Journal()
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            journal.apply_line(number, line)
    if not journal.operations:
        raise InvalidArgument(f"{str(path)!r} is no journal of Optuna: {_why_not(path)}")
    studies = list(journal.studies.values())
    if studies:
        studies[0].damage += journal.damage
    return studies


class _Journal:
    def __init__(self) -> None:
        self.studies: dict[int, StoredStudy] = {}
        self.damage: list[str] = []
        self.operations = 0  # lines that are one
        self._trials: list[StoredTrial] = []
        self._created = 0
        self._operations: dict[int, Callable[[JsonObject], None]] = {
            0: self._create_study,
            1: lambda entry: void(self.studies.pop(entry["study_id"], None)),
            2: self._set_study_attribute,
            4: self._create_trial,
            5: self._set_parameter,
            6: self._set_state,
            7: self._set_intermediate_value,
            8: lambda entry: self._trial(entry).user_attrs.update(entry["user_attr"]),
            9: lambda entry: self._trial(entry).system_attrs.update(entry["system_attr"]),
        }

    def apply_line(self, number: int, line: bytes) -> None:
        """Apply one operation; 3 (attributes of studies for Optuna itself) and unknown ones change nothing here."""
        try:
            entry = parse_json(line)
            operation = self._operations.get(number_of(entry), void)
            self.operations += 1
            operation(entry)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as e:
            self.damage.append(f"line {number}: {type(e).__name__}")

    def _create_study(self, entry: JsonObject) -> None:
        name = str(entry["study_name"])
        if name in {study.name for study in self.studies.values()}:
            return  # another process was first
        directions = [_DIRECTIONS[number] for number in entry["directions"]]
        self.studies[self._created] = StoredStudy(self._created, name, directions)
        self._created += 1

    def _set_study_attribute(self, entry: JsonObject) -> None:
        if study := self.studies.get(entry["study_id"]):
            study.user_attrs.update(entry["user_attr"])

    def _create_trial(self, entry: JsonObject) -> None:
        study = self.studies.get(entry["study_id"])
        if study is None:
            return
        trial = StoredTrial(len(self._trials), len(study.trials), _STATES[entry.get("state", 0)])
        trial.started_at, trial.ended_at = utc(entry.get("datetime_start")), utc(entry.get("datetime_complete"))
        distributions = entry.get("distributions") or {}
        trial.params = {name: (value, distributions[name]) for name, value in (entry.get("params") or {}).items()}
        trial.values = list(entry.get("values") or ([] if entry.get("value") is None else [entry["value"]]))
        reported = entry.get("intermediate_values") or {}
        trial.intermediate_values = {int(step): value for step, value in reported.items()}
        trial.user_attrs = dict(entry.get("user_attrs") or {})
        trial.system_attrs = dict(entry.get("system_attrs") or {})
        self._trials.append(trial)
        study.trials.append(trial)

    def _set_parameter(self, entry: JsonObject) -> None:
        self._trial(entry).params[entry["param_name"]] = (entry["param_value_internal"], entry["distribution"])

    def _set_state(self, entry: JsonObject) -> None:
        trial, state = self._trial(entry), _STATES[entry["state"]]
        if state == trial.state == "RUNNING":
            return  # another process had taken it
        trial.started_at = utc(entry.get("datetime_start")) or trial.started_at
        trial.ended_at = utc(entry.get("datetime_complete")) or trial.ended_at
        trial.state, trial.values = state, entry.get("values") or trial.values

    def _set_intermediate_value(self, entry: JsonObject) -> None:
        self._trial(entry).intermediate_values[int(entry["step"])] = entry["intermediate_value"]

    def _trial(self, entry: JsonObject) -> StoredTrial:
        """Return the trial to change; for one that has ended a copy that is dropped: Optuna ignores such changes."""
        trial = self._trials[entry["trial_id"]]
        return StoredTrial(trial.id, trial.number, trial.state) if trial.state in _ENDED else trial


def number_of(entry: JsonObject) -> int:
    """Return the number of an operation. Raises TypeError and LookupError where a line is none."""
    number = entry["op_code"]
    if not isinstance(number, int):
        raise TypeError(f"{number!r} is no number of an operation")
    return number


def void(_: object) -> None:
    """Do nothing with a result or an operation."""


def _why_not(path: Path) -> str:
    with path.open("rb") as file:
        first = file.readline(_LONGEST)
    if not first:
        return "it is empty"
    try:
        parse_json(first)
    except ValueError:
        return "its first line is not JSON"
    return "no line of it is an operation"
