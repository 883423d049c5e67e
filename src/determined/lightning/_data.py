"""Training data that can be taken up in the middle of an epoch: loaders of any kind are asked for the same order again,
under the same random numbers, and enter it where the checkpoint left it."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from determined._json import JsonObject
from determined.lightning import _random

if TYPE_CHECKING:
    from lightning.pytorch import Trainer

LoaderState = JsonObject


def follow(trainer: "Trainer") -> list["FollowedLoader"]:
    """Put a FollowedLoader around each training loader of a fit, once; those of the fit now."""
    combined = trainer.fit_loop._combined_loader
    if combined is None:
        return []
    ahead = _fetched_ahead(trainer)
    combined.flattened = [
        each if isinstance(each, FollowedLoader) else _followed(each, ahead) for each in combined.flattened
    ]
    return list(combined.flattened)


def begin_again(trainer: "Trainer") -> None:
    """Have the loaders of the first epoch followed: Lightning began to iterate before anybody could."""
    fetcher = trainer.fit_loop._data_fetcher
    if fetcher is None:
        return
    combined = trainer.fit_loop._combined_loader
    if not all(isinstance(loader, StatefulLoader) for loader in combined.flattened):
        for loader in combined.flattened:
            loader.rewind()
        iter(fetcher)
        return
    # They were loaded for the iterators at hand, and cannot tell where they were before a batch that is fetched.
    running = combined._iterator
    running.iterables = combined.flattened
    running.iterators = [
        loader.go_on(iterator) for loader, iterator in zip(combined.flattened, running.iterators, strict=True)
    ]


class FollowedLoader:
    """Replacement of a loader. It knows how many batches it gave, and under which random numbers it began.

    Args:
        loader: of any kind.
        ahead: batches that are fetched and not yet trained on when the next one is.
    """

    def __init__(self, loader: Any, ahead: int) -> None:
        self._loader = loader
        self._ahead = ahead
        self._given = 0
        self._began: _random.RandomState | None = None
        self._noted: LoaderState | None = None
        self._is_wanted = False
        self._plan: LoaderState | None = None

    def note_next(self) -> None:
        """Keep where the loader is, right before the next batch is fetched."""
        self._is_wanted = True

    def taken(self) -> LoaderState | None:
        """Return what was noted; None where a loader saves itself."""
        return self._noted

    def forget(self) -> None:
        """The note is used: who saves at another moment is told where the loader is then."""
        self._noted, self._is_wanted = None, False

    def take_up(self, state: LoaderState) -> None:
        """Begin there, the next time it is iterated."""
        self._plan = state

    def rewind(self) -> None:
        """Go back before it is iterated once more, and nothing was fetched."""

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
        for batch in _announced(iterator, self._note):
            self._given += 1
            yield batch

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        if name in ("_loader", "state_dict", "load_state_dict"):  # a loader with a state of its own has another class
            raise AttributeError(name)
        return getattr(self._loader, name)

    @property
    def _iterator(self) -> object:
        """Iterator of torch's loader. Lightning stops its workers and takes it away when a fit is over."""
        return self._loader._iterator

    @_iterator.setter
    def _iterator(self, iterator: object) -> None:
        self._loader._iterator = iterator

    def _note(self) -> None:
        if not self._is_wanted:
            return
        self._noted = {"began": self._began, "given": max(self._given - self._ahead, 0), "now": _random.take()}
        self._is_wanted = False

    def _skip(self, iterator: Iterator[object], batches: int) -> None:
        """Skip batches without loading records, where nothing but their order depends on them."""
        next_index = getattr(iterator, "_next_index", None) if _draws_indices(self._loader) else None
        for _ in range(batches):
            next_index() if next_index is not None else next(iterator)
            self._given += 1


class StatefulLoader(FollowedLoader):
    """Around a loader that can be saved and loaded itself. Lightning does both; what it saves is what was noted."""

    def __init__(self, loader: object, ahead: int) -> None:
        super().__init__(loader, ahead)
        self._places: deque[object] = deque(maxlen=ahead + 1)  # its states before the last fetches

    def state_dict(self) -> Any:
        return self._loader.state_dict() if self._noted is None else self._noted["state"]

    def load_state_dict(self, state: object) -> None:
        self._loader.load_state_dict(state)

    def taken(self) -> LoaderState | None:
        return None

    def rewind(self) -> None:
        self._loader.load_state_dict(self._loader.state_dict())  # it was loaded for the iterator that is given up

    def __iter__(self) -> Iterator[Any]:
        self._places.clear()
        yield from self.go_on(iter(self._loader))

    def go_on(self, iterator: Iterator[object]) -> Iterator[Any]:
        """The rest of an iterator of the loader's."""
        return _announced(iterator, self._note)

    def _note(self) -> None:
        if self._is_wanted or self._ahead:
            self._places.append(self._loader.state_dict())
        if self._is_wanted:
            self._noted, self._is_wanted = {"state": self._places[0]}, False


def _fetched_ahead(trainer: "Trainer") -> int:
    """Count the batches fetched ahead: of data without a length Lightning looks at the next batch before it trains on
    one."""
    fetcher = trainer.fit_loop._data_fetcher
    return int(getattr(fetcher, "prefetch_batches", 0)) if fetcher is not None and fetcher.length is None else 0


def _followed(loader: object, ahead: int) -> FollowedLoader:
    is_stateful = callable(getattr(loader, "state_dict", None)) and callable(getattr(loader, "load_state_dict", None))
    return StatefulLoader(loader, ahead) if is_stateful else FollowedLoader(loader, ahead)


def _draws_indices(loader: object) -> bool:
    """Workers have random numbers of their own, which only their batches move on."""
    if not isinstance(loader, torch.utils.data.DataLoader) or loader.num_workers > 0:
        return False
    return not isinstance(loader.dataset, torch.utils.data.IterableDataset)


def _announced(iterator: Iterator[object], announce: Callable[[], None]) -> Iterator[Any]:
    """Call `announce` right before each batch is fetched, and once more before the end is seen."""
    while True:
        announce()
        try:
            batch = next(iterator)
        except StopIteration:
            return
        yield batch
