"""Answers to events of the master: the state is updated first, then the search method is called."""

import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

from determined.searcher._method import SearchMethod
from determined.searcher._operations import Operation, Progress
from determined.searcher._state import ExitedReason, SearcherState
from determined.wire import custom_search as wire

logger = logging.getLogger("determined.searcher")

_SPELLED = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def answer(method: SearchMethod, state: SearcherState, event: wire.SearcherEvent) -> list[Operation]:
    """Return the operations that follow; `state` is changed."""
    for kind, handle in _HANDLERS.items():
        content = getattr(event, kind)
        if content is not None:
            return list(handle(method, state, content))
    logger.warning("event %s is of a kind this version does not know; it is passed over", event.id)
    return []


def _initial(method: SearchMethod, state: SearcherState, content: wire.InitialOperations) -> list[Operation]:
    return method.initial_operations(state)


def _created(method: SearchMethod, state: SearcherState, content: wire.TrialCreated) -> list[Operation]:
    request_id = UUID(content.request_id)
    state.trials_created.add(request_id)
    state.trial_progress[request_id] = 0.0
    return method.on_trial_created(state, request_id)


def _progressed(method: SearchMethod, state: SearcherState, content: wire.TrialProgress) -> list[Operation]:
    state.trial_progress[UUID(content.request_id)] = float(content.partial_units)
    return [Progress(method.progress(state))]


def _validated(method: SearchMethod, state: SearcherState, content: wire.ValidationCompleted) -> list[Operation]:
    metric, length = _with_numbers(content.metric), int(content.validate_after_length)
    operations = method.on_validation_completed(state, UUID(content.request_id), metric, length)
    return [*operations, Progress(method.progress(state))]


def _closed(method: SearchMethod, state: SearcherState, content: wire.TrialClosed) -> list[Operation]:
    request_id = UUID(content.request_id)
    state.trials_closed.add(request_id)
    operations = method.on_trial_closed(state, request_id)
    return [*operations, Progress(method.progress(state))]


def _exited_early(method: SearchMethod, state: SearcherState, content: wire.TrialExitedEarly) -> list[Operation]:
    request_id, reason = UUID(content.request_id), ExitedReason._from_wire(content.exited_reason)
    if reason is ExitedReason.INVALID_HP:
        state.trial_progress.pop(request_id, None)
    elif reason is ExitedReason.ERRORED:
        state.failures.add(request_id)
    operations = method.on_trial_exited_early(state, request_id, reason)
    return [*operations, Progress(method.progress(state))]


def _with_numbers(metric: Any) -> Any:
    """Read numbers that JSON cannot carry (NaN, infinities), which travel as text."""
    if isinstance(metric, dict):
        return {name: _with_numbers(value) for name, value in metric.items()}
    if isinstance(metric, list):
        return [_with_numbers(value) for value in metric]
    return _SPELLED.get(metric, metric) if isinstance(metric, str) else metric


_HANDLERS: dict[str, Callable[[SearchMethod, SearcherState, Any], list[Operation]]] = {
    "initial_operations": _initial,
    "trial_created": _created,
    "trial_progress": _progressed,
    "validation_completed": _validated,
    "trial_closed": _closed,
    "trial_exited_early": _exited_early,
}
