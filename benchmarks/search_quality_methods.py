"""The search methods of benchmarks/search_quality.py behind one interface: ask, tell, ended. Peers as they come.

Every library gets the same space and its own defaults; what differs from them is written at its class.
"""

import datetime
import logging
import math
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from search_quality_tasks import Choice, Space, Task

Point = dict[str, int]
MANY = 10_000  # trials: more than any budget can begin
_WORST = 1e9  # told to a library that refuses what is not a number


class Method(ABC):
    @abstractmethod
    def ask(self) -> tuple[str, Point] | None:
        """A new trial and its point; None when there is none for now."""

    @abstractmethod
    def tell(self, trial: str, epoch: int, loss: float) -> bool:
        """Return whether the trial goes on after this epoch."""

    def ended(self, trial: str, epoch: int, loss: float) -> None:  # noqa: B027 - only some must know
        """The trial was stopped or has trained all its epochs."""


class Ours(Method):
    """A searcher in its late form, as `det e create` runs it."""

    def __init__(self, task: Task, workers: int, seed: int, **fields: Any) -> None:
        from determined.search.searcher import Searcher

        config = {
            "metric": "loss",
            "smaller_is_better": True,
            "time_metric": "epochs",
            "max_time": task.epochs,
            "max_trials": MANY,
            "max_concurrent_trials": workers,
            **fields,
        }
        space = {
            name: {"type": "categorical", "vals": list(range(len(axis.values)))}
            if isinstance(axis, Choice)
            else {"type": "int", "minval": 0, "maxval": len(axis.values) - 1}
            for name, axis in task.space.items()
        }
        self.searcher = Searcher.create(config, space, seed=seed, classic=False)
        self._waiting: deque[Any] = deque()
        self._stopped: set[str] = set()
        self._take(self.searcher.start())

    def ask(self) -> tuple[str, Point] | None:
        if not self._waiting:
            self._answer_one()
        if not self._waiting:
            return None
        create = self._waiting.popleft()
        self._take(self.searcher.trial_created(create.request_id))
        return create.request_id, create.hparams

    def tell(self, trial: str, epoch: int, loss: float) -> bool:
        self._take(self.searcher.validation(trial, loss, epoch))
        return trial not in self._stopped

    def ended(self, trial: str, epoch: int, loss: float) -> None:
        self._take(self.searcher.exited(trial))

    def _take(self, operations: list[Any]) -> None:
        for operation in operations:
            if type(operation).__name__ == "Create":
                self._waiting.append(operation)
            elif type(operation).__name__ == "Stop":
                self._stopped.add(operation.request_id)

    def _answer_one(self) -> None:
        if held := self.searcher.proposals():
            self._take(self.searcher.proposed(held[0], self.searcher.propose(held[0])))


class Drawn(Method):
    """Points drawn evenly, every trial trained to its end."""

    def __init__(self, task: Task, workers: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._sizes = sizes(task.space)
        self._trials = 0

    def ask(self) -> tuple[str, Point]:
        self._trials += 1
        return str(self._trials), {name: int(self._rng.integers(size)) for name, size in self._sizes.items()}

    def tell(self, trial: str, epoch: int, loss: float) -> bool:
        return True


class RayAsha(Drawn):
    """Ray Tune's AsyncHyperBandScheduler over uniformly drawn points (its BasicVariantGenerator draws the same way)."""

    def __init__(self, task: Task, workers: int, seed: int) -> None:
        from ray.tune.schedulers import AsyncHyperBandScheduler

        super().__init__(task, workers, seed)
        np.random.seed(seed)  # the scheduler draws brackets from the global generator
        self._scheduler = AsyncHyperBandScheduler(time_attr="epoch", metric="loss", mode="min", max_t=task.epochs)
        self._known: dict[str, Any] = {}

    def ask(self) -> tuple[str, Point]:
        name, point = super().ask()
        trial = self._known[name] = _RayTrial(name)
        self._scheduler.on_trial_add(None, trial)
        return name, point

    def tell(self, trial: str, epoch: int, loss: float) -> bool:
        result = {"epoch": epoch, "loss": finite(loss)}
        return self._scheduler.on_trial_result(None, self._known[trial], result) == self._scheduler.CONTINUE


class _RayTrial:
    """Trial with all that the scheduler looks at."""

    def __init__(self, trial_id: str) -> None:
        self.trial_id = trial_id


class SyneTune(Method):
    """`kind` of `syne_tune.optimizer.baselines` of release 0.13, the last with both methods that have a model.

    Its process is fitted anew at every fifth trial, to 150 results at most: by its defaults a single search of a
    table takes minutes.
    """

    def __init__(self, task: Task, workers: int, seed: int, *, kind: str) -> None:
        logging.disable(logging.WARNING)
        from syne_tune import config_space
        from syne_tune.optimizer import baselines

        np.random.seed(seed)
        space = {
            name: config_space.choice([str(n) for n in range(len(axis.values))])
            if isinstance(axis, Choice)
            else config_space.randint(0, len(axis.values) - 1)
            for name, axis in task.space.items()
        }
        settings = {"metric": "loss", "resource_attr": "epoch", "max_t": task.epochs, "mode": "min"}
        options = {"debug_log": False, "opt_skip_init_length": 20, "opt_skip_period": 5, "opt_maxiter": 20}
        options |= {"max_size_data_for_model": 150}
        self._scheduler = getattr(baselines, kind)(space, **settings, search_options=options, random_seed=seed)
        self._trials: dict[str, Any] = {}
        self._names = list(task.space)

    def ask(self) -> tuple[str, Point] | None:
        from syne_tune.backend.trial_status import Trial

        suggestion = self._scheduler.suggest(len(self._trials))
        if suggestion is None:
            return None
        name = str(len(self._trials))
        trial = self._trials[name] = Trial(int(name), suggestion.config, datetime.datetime.now())
        self._scheduler.on_trial_add(trial)
        return name, {axis: int(suggestion.config[axis]) for axis in self._names}

    def tell(self, trial: str, epoch: int, loss: float) -> bool:
        answer = self._scheduler.on_trial_result(self._trials[trial], {"epoch": epoch, "loss": finite(loss)})
        self._last = {"epoch": epoch, "loss": finite(loss)}
        return answer == "CONTINUE"

    def ended(self, trial: str, epoch: int, loss: float) -> None:
        self._scheduler.on_trial_complete(self._trials[trial], {"epoch": epoch, "loss": finite(loss)})


class Optuna(Method):
    """Ask and tell, with a sampler and a pruner. constant_liar: trials run side by side."""

    def __init__(self, task: Task, workers: int, seed: int, *, pruner: str = "", sampler: str = "tpe") -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.simplefilter("ignore")
        pruners: dict[str, Callable[[], Any]] = {
            "": optuna.pruners.NopPruner,
            "median": optuna.pruners.MedianPruner,
            "hyperband": lambda: optuna.pruners.HyperbandPruner(max_resource=task.epochs),
            "wilcoxon": optuna.pruners.WilcoxonPruner,
        }
        self._optuna = optuna
        self._space = task.space
        self._epochs = task.epochs
        self._study = optuna.create_study(sampler=_optuna_sampler(sampler, seed), pruner=pruners[pruner]())
        self._trials: dict[str, Any] = {}

    def ask(self) -> tuple[str, Point]:
        trial = self._study.ask()
        self._trials[str(trial.number)] = trial
        return str(trial.number), {
            name: trial.suggest_categorical(name, list(range(len(axis.values))))
            if isinstance(axis, Choice)
            else trial.suggest_int(name, 0, len(axis.values) - 1)
            for name, axis in self._space.items()
        }

    def tell(self, trial: str, epoch: int, loss: float) -> bool:
        self._trials[trial].report(loss, epoch)
        return epoch == self._epochs or not self._trials[trial].should_prune()

    def ended(self, trial: str, epoch: int, loss: float) -> None:
        states = self._optuna.trial.TrialState
        if epoch == self._epochs and math.isfinite(loss):
            self._study.tell(self._trials[trial], loss)
        else:
            self._study.tell(self._trials[trial], state=states.FAIL if math.isnan(loss) else states.PRUNED)


def _optuna_sampler(name: str, seed: int) -> Any:
    import optuna

    if name == "botorch":
        from optuna_integration import BoTorchSampler

        return BoTorchSampler(seed=seed)
    return optuna.samplers.TPESampler(seed=seed, constant_liar=True)


def sizes(space: Space) -> dict[str, int]:
    return {name: len(axis.values) for name, axis in space.items()}


def finite(loss: float) -> float:
    return loss if math.isfinite(loss) else _WORST


Maker = Callable[[Task, int, int], Method]


def _of(method: Callable[..., Method], **fields: Any) -> Maker:
    return lambda task, workers, seed: method(task, workers, seed, **fields)


AUTO = "determined auto"
OURS: dict[str, Maker] = {
    AUTO: _of(Ours, name="auto"),
    "determined adaptive_asha": _of(Ours, name="adaptive_asha"),
    "determined adaptive_asha + tpe": _of(Ours, name="adaptive_asha", sampler="tpe"),
}
PEERS: dict[str, Maker] = {
    "random": Drawn,
    "ray asha": RayAsha,
    "optuna tpe": _of(Optuna),
    "optuna tpe + median": _of(Optuna, pruner="median"),
    "optuna tpe + hyperband": _of(Optuna, pruner="hyperband"),
    "optuna tpe + wilcoxon": _of(Optuna, pruner="wilcoxon"),
}
SLOW_PEERS: dict[str, Maker] = {
    "syne tune mobster": _of(SyneTune, kind="MOBSTER"),
    "syne tune hyper-tune": _of(SyneTune, kind="HyperTune"),
    "optuna botorch + median": _of(Optuna, sampler="botorch", pruner="median"),
}
SYNE_TUNE = frozenset(name for name in SLOW_PEERS if name.startswith("syne tune"))  # in an environment of its own
METHODS: dict[str, Maker] = {**OURS, **PEERS, **SLOW_PEERS}
