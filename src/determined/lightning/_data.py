"""Training data that can be taken up in the middle of an epoch: loaders of any kind are asked for the same order again,
under the same random numbers, and enter it where the checkpoint left it."""

from collections.abc import Iterator
from typing import Any

import torch

from determined.lightning import _random

LoaderState = dict[str, Any]


def follow(trainer: Any) -> list["FollowedLoader"]:
    """Put a FollowedLoader around each training loader of a fit, once; those of the fit now."""
    combined = trainer.fit_loop._combined_loader
    if combined is None:
        return []
    combined.flattened = [each if isinstance(each, FollowedLoader) else _followed(each) for each in combined.flattened]
    return list(combined.flattened)


def begin_again(trainer: Any) -> None:
    """Have the iterator of the first epoch made anew: Lightning made it before anybody could follow."""
    fetcher = trainer.fit_loop._data_fetcher
    if fetcher is None:
        return
    for loader in trainer.fit_loop._combined_loader.flattened:
        loader.rewind()
    iter(fetcher)


def fetched_ahead(trainer: Any) -> int:
    """Batches that Lightning holds already: of data without a length it looks at the next before it trains on one."""
    return len(getattr(trainer.fit_loop._data_fetcher, "batches", ()))


class FollowedLoader:
    """Stands in for a loader. It knows how many batches it gave, and under which random numbers it began."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._given = 0
        self._began: _random.RandomState | None = None
        self._noted: LoaderState | None = None
        self._wanted: int | None = None
        self._plan: LoaderState | None = None

    def note_next(self, ahead: int) -> None:
        """Keep where the loader is, right before the next batch is fetched.

        Args:
            ahead: batches that were fetched and not yet trained on.
        """
        self._wanted = ahead

    def taken(self) -> LoaderState | None:
        """What was noted; None where a loader saves itself, or nothing was."""
        return self._noted

    def forget(self) -> None:
        """The note is used: who saves at another moment is told where the loader is then."""
        self._noted = self._wanted = None

    def take_up(self, state: LoaderState) -> None:
        """Begin there, the next time it is iterated."""
        self._plan = state

    def rewind(self) -> None:
        """Before it is iterated once more, and nothing was fetched."""

    def __iter__(self) -> Iterator[Any]:
        """A generator: loaders draw their order when they are first asked, and so do those that are taken up."""
        plan, self._plan = self._plan, None
        if plan is not None:
            _random.put_back(plan["began"])
        self._began, self._given = _random.take(), 0
        iterator = iter(self._loader)
        if plan is not None:
            self._skip(iterator, plan["given"])
            _random.put_back(plan["now"])
        while True:
            self._note()
            try:
                batch = next(iterator)
            except StopIteration:
                return
            self._given += 1
            yield batch

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        if name in ("_loader", "state_dict", "load_state_dict"):  # a loader with a state of its own has another class
            raise AttributeError(name)
        return getattr(self._loader, name)

    def _note(self) -> None:
        if self._wanted is None:
            return
        self._noted = {"began": self._began, "given": self._given - self._wanted, "now": _random.take()}
        self._wanted = None

    def _skip(self, iterator: Iterator[Any], batches: int) -> None:
        """Without loading records, where nothing but their order depends on them."""
        next_index = getattr(iterator, "_next_index", None) if _draws_indices(self._loader) else None
        for _ in range(batches):
            next_index() if next_index is not None else next(iterator)
            self._given += 1


class StatefulLoader(FollowedLoader):
    """Around a loader that can be saved and loaded itself. Lightning does both; what it saves is what was noted."""

    def state_dict(self) -> Any:
        return self._loader.state_dict() if self._noted is None else self._noted["state"]

    def load_state_dict(self, state: Any) -> None:
        self._loader.load_state_dict(state)

    def taken(self) -> LoaderState | None:
        return None

    def rewind(self) -> None:
        self._loader.load_state_dict(self._loader.state_dict())  # it was loaded for the iterator that is given up

    def __iter__(self) -> Iterator[Any]:
        iterator = iter(self._loader)
        while True:
            if self._wanted is not None:
                self._noted, self._wanted = {"state": self._loader.state_dict()}, None
            try:
                batch = next(iterator)
            except StopIteration:
                return
            yield batch


def _followed(loader: Any) -> FollowedLoader:
    is_stateful = callable(getattr(loader, "state_dict", None)) and callable(getattr(loader, "load_state_dict", None))
    return StatefulLoader(loader) if is_stateful else FollowedLoader(loader)


def _draws_indices(loader: Any) -> bool:
    """Workers have random numbers of their own, which only their batches move on."""
    if not isinstance(loader, torch.utils.data.DataLoader) or loader.num_workers > 0:
        return False
    return not isinstance(loader.dataset, torch.utils.data.IterableDataset)
