"""Custom hyperparameter search: write a `SearchMethod`, run it with `LocalSearchRunner` or `RemoteSearchRunner`."""

from determined.searcher._local import LocalSearchRunner
from determined.searcher._method import SearchMethod
from determined.searcher._operations import Close, Create, Operation, Progress, Shutdown, ValidateAfter
from determined.searcher._remote import RemoteSearchRunner
from determined.searcher._runner import SearchRunner
from determined.searcher._state import ExitedReason, SearcherState

__all__ = [
    "Close",
    "Create",
    "ExitedReason",
    "LocalSearchRunner",
    "Operation",
    "Progress",
    "RemoteSearchRunner",
    "SearchMethod",
    "SearchRunner",
    "SearcherState",
    "Shutdown",
    "ValidateAfter",
]
