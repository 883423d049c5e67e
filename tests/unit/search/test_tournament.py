"""Searches side by side: who hears what, the mean of their progress, and what an extension needs."""

from typing import Any

import pytest

from determined.errors import FailedPrecondition
from determined.search.method import Create, ExitReason, Operation, SearchContext, SearchMethod, Tally
from determined.search.rng import Rng
from determined.search.tournament import Tournament

NOTHING = Tally(0, 0, 0, 0)


class Context(SearchContext):
    """Trials named a, b, c, ..."""

    def __init__(self) -> None:
        self.rng, self.space = Rng(1), {}
        self._names = iter("abcdefgh")

    def create(self, hparams: dict[str, Any] | None = None, *, checkpoint_of: str | None = None) -> Create:
        return Create(next(self._names), {}, seed=1)


class Listener(SearchMethod):
    """Creates `trials`, then one more at each exit, and remembers what it heard."""

    def __init__(self, trials: int, progress: float = 0.0) -> None:
        self.trials, self.done = trials, progress
        self.heard: list[tuple[Any, ...]] = []

    def initial(self, ctx: SearchContext) -> list[Operation]:
        return [ctx.create() for _ in range(self.trials)]

    def trial_created(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        return self._hear("created", request_id)

    def validation_completed(
        self, ctx: SearchContext, request_id: str, metric: float, length: float
    ) -> list[Operation]:
        return self._hear("validation", request_id, metric, length)

    def exited_early(self, ctx: SearchContext, request_id: str, reason: ExitReason) -> list[Operation]:
        return self._hear("early", request_id, reason)

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        return [*self._hear("exited", request_id), ctx.create()]

    def extend(self, ctx: SearchContext, trials: int) -> list[Operation]:
        return [ctx.create() for _ in range(trials)]

    def progress(self, tally: Tally) -> float:
        return self.done

    def snapshot(self) -> dict[str, Any]:
        return {"heard": list(self.heard)}

    def restore(self, state: dict[str, Any]) -> None:
        self.heard = list(state["heard"])

    def _hear(self, *event: Any) -> list[Operation]:
        self.heard.append(event)
        return []


def ids(operations: list[Operation]) -> list[str]:
    return [op.request_id for op in operations if isinstance(op, Create)]


def test_initial_trials_come_search_by_search() -> None:
    tournament = Tournament([Listener(2), Listener(1)])
    assert ids(tournament.initial(Context())) == ["a", "b", "c"]
    assert tournament.snapshot()["trial_table"] == {"a": 0, "b": 0, "c": 1}


def test_every_event_goes_to_the_search_whose_trial_it_is() -> None:
    first, second, ctx = Listener(1), Listener(1), Context()
    tournament = Tournament([first, second])
    tournament.initial(ctx)
    tournament.trial_created(ctx, "b")
    tournament.validation_completed(ctx, "b", 0.5, 10)
    tournament.exited_early(ctx, "b", ExitReason.ERRORED)
    assert ids(tournament.exited(ctx, "b")) == ["c"]
    tournament.trial_created(ctx, "c")
    assert first.heard == []
    assert second.heard == [
        ("created", "b"),
        ("validation", "b", 0.5, 10),
        ("early", "b", ExitReason.ERRORED),
        ("exited", "b"),
        ("created", "c"),
    ]


def test_progress_is_the_mean_of_the_searches() -> None:
    assert Tournament([Listener(1, 0.25), Listener(1, 0.75), Listener(1, 0.5)]).progress(NOTHING) == 0.5


def test_extension_is_shared_out_as_told_and_its_trials_are_routed() -> None:
    first, second, ctx = Listener(0), Listener(0), Context()
    tournament = Tournament([first, second], lambda trials: [trials - 1, 1])
    assert ids(tournament.extend(ctx, 3)) == ["a", "b", "c"]
    tournament.trial_created(ctx, "c")
    assert second.heard == [("created", "c")]


def test_extension_without_shares_is_refused() -> None:
    with pytest.raises(FailedPrecondition, match="cannot be extended by 3 trials"):
        Tournament([Listener(1)]).extend(Context(), 3)


def test_restored_tournament_knows_whose_the_trials_are() -> None:
    ctx = Context()
    tournament = Tournament([Listener(1), Listener(1)])
    tournament.initial(ctx)
    tournament.trial_created(ctx, "b")
    first, second = Listener(1), Listener(1)
    restored = Tournament([first, second])
    restored.restore(tournament.snapshot())
    restored.validation_completed(ctx, "b", 1.0, 2)
    assert (first.heard, second.heard) == ([], [("created", "b"), ("validation", "b", 1.0, 2)])
    assert restored.snapshot()["search_method_type"] == "tournament"
