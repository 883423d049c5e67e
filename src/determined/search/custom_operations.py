"""Operations of the client of a custom search, read from the words of the wire; a refusal says which operation."""

import json
import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from determined._json import JsonObject
from determined.errors import InvalidArgument
from determined.schema.storable import MAX_DEPTH, find_unstorable
from determined.search.method import Close, Create, Operation, Shutdown, ValidateAfter

TRIAL_SEED = 42
_MAX_LENGTH = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Steered:
    """Orders that a trial has had so far."""

    length: int = 0
    closed: bool = False


@dataclass(slots=True)
class Answer:
    """Post, read whole: `steered` holds the trials it speaks of as they are after it."""

    operations: list[Operation] = field(default_factory=list)
    steered: dict[str, Steered] = field(default_factory=dict)
    progress: float | None = None


def read_operations(posted: list[JsonObject], trials: Mapping[str, Steered]) -> Answer:
    """Read every operation of one post, in order; a later one may speak of a trial that an earlier one creates.

    Args:
        posted: as the wire writes them: `{"closeTrial": {"requestId": "..."}}`.
        trials: those of earlier posts.

    Raises:
        InvalidArgument: an operation is unknown, or makes no sense for its trial.
    """
    answer = Answer()
    for number, operation in enumerate(posted):
        try:
            _read(operation, trials, answer)
        except InvalidArgument as e:
            raise InvalidArgument(f"searcherOperations[{number}]: {e.message}; nothing of this post was done") from e
    return answer


def _read(operation: JsonObject, trials: Mapping[str, Steered], answer: Answer) -> None:
    match operation:
        case {"createTrial": {"requestId": request_id, "hyperparams": hyperparams}}:
            read: Operation = _create(request_id, hyperparams, trials, answer)
        case {"trialOperation": {"validateAfter": {"requestId": request_id, "length": length}}}:
            read = _validate_after(request_id, length, trials, answer)
        case {"closeTrial": {"requestId": request_id}}:
            name, trial = _known("closeTrial", request_id, trials, answer)
            answer.steered[name] = replace(trial, closed=True)
            read = Close(name)
        case {"shutDown": dict(how)}:
            read = Shutdown(cancel=bool(how.get("cancel")), failure=bool(how.get("failure")))
        case {"setSearcherProgress": {"progress": progress}}:
            answer.progress = _fraction(progress)
            return
        case _:
            raise InvalidArgument(
                f"{operation!r} is none of createTrial, trialOperation.validateAfter, closeTrial,"
                " setSearcherProgress, shutDown, or lacks a field of it"
            )
    if any(isinstance(earlier, Shutdown) for earlier in answer.operations):
        raise InvalidArgument("it comes after shutDown, which ends the search; put shutDown last")
    answer.operations.append(read)


def _create(request_id: object, hyperparams: object, trials: Mapping[str, Steered], answer: Answer) -> Create:
    name = _uuid("createTrial", request_id)
    if name in trials or name in answer.steered:
        raise InvalidArgument(f"createTrial: request id {name} is already that of a trial; use a fresh one")
    answer.steered[name] = Steered()
    return Create(name, _hparams(hyperparams), seed=TRIAL_SEED)


def _validate_after(request_id: object, length: object, trials: Mapping[str, Steered], answer: Answer) -> ValidateAfter:
    name, trial = _known("validateAfter", request_id, trials, answer)
    units = _length(length)
    if trial.closed:
        raise InvalidArgument(f"validateAfter: trial {name} is closed; it takes no further operation")
    if units <= trial.length:
        raise InvalidArgument(
            f"validateAfter: length {units} for trial {name} is not beyond the {trial.length} it was last told;"
            " lengths are absolute and grow"
        )
    answer.steered[name] = replace(trial, length=units)
    return ValidateAfter(name, units)


def _known(what: str, request_id: object, trials: Mapping[str, Steered], answer: Answer) -> tuple[str, Steered]:
    name = _uuid(what, request_id)
    trial = answer.steered.get(name) or trials.get(name)
    if trial is None:
        raise InvalidArgument(f"{what}: no trial has request id {name}; create it first")
    return name, trial


def _uuid(what: str, request_id: object) -> str:
    """Write a request id in its canonical form: it becomes part of task names, and clients compare it as text."""
    try:
        return str(uuid.UUID(request_id if isinstance(request_id, str) else ""))
    except ValueError as e:
        raise InvalidArgument(f"{what}: request id {request_id!r} is not a UUID") from e


def _hparams(hyperparams: object) -> JsonObject:
    try:
        hparams = json.loads(hyperparams, parse_constant=_no_number) if isinstance(hyperparams, str) else hyperparams
    except ValueError as e:
        raise InvalidArgument(f"createTrial: hyperparams are not JSON ({e}): {hyperparams!r}") from e
    except RecursionError as e:
        raise InvalidArgument(f"createTrial: hyperparams are nested deeper than {MAX_DEPTH} levels") from e
    if not isinstance(hparams, dict):
        raise InvalidArgument(f"createTrial: hyperparams must be a JSON object, not {hyperparams!r}")
    # The first alone: the path of a later one may lead through a key that no answer could carry.
    for at, reason in find_unstorable(hparams, "hyperparams"):
        raise InvalidArgument(f"createTrial: {at}: {reason}")
    return hparams


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _length(length: object) -> int:
    whole = length if isinstance(length, int) and not isinstance(length, bool) else None
    if isinstance(length, str) and length.isdecimal():
        whole = int(length[:20])
    if whole is None or not 0 < whole <= _MAX_LENGTH:
        raise InvalidArgument(f"validateAfter: length {length!r} is not a positive whole number")
    return whole


def _fraction(progress: object) -> float:
    if isinstance(progress, bool) or not isinstance(progress, int | float) or not math.isfinite(progress):
        raise InvalidArgument(f"setSearcherProgress: progress {progress!r} is not a number between 0 and 1")
    return min(max(float(progress), 0.0), 1.0)
