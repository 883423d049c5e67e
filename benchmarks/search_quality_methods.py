"""The search methods of benchmarks/search_quality.py behind one interface: ask, tell, ended. Peers as they come.

Every library gets the same integer space and its own defaults; what differs from them is written at its class.
"""

import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from search_quality_table import EPOCHS, SPACE

SIZES = {name: len(values) for name, values in SPACE.items()}
MANY = 1000  # trials: more than the budget can begin


class Method(ABC):
    @abstractmethod
    def ask(self) -> tuple[str, dict[str, int]] | None:
        """A new trial and its point; None when there is none for now."""

    @abstractmethod
    def tell(self, trial: str, epoch: int, loss: float) -> bool:
        """Return whether the trial goes on after this epoch."""

    def ended(self, trial: str, epoch: int, loss: float) -> None:  # noqa: B027 - only some must know
        """The trial was stopped or has trained all its epochs."""


class Ours(Method):
    """adaptive_asha in its late form, as `det e create` runs it.

    `mode: aggressive` is one bracket, as Ray and Syne Tune have by default; the default, `standard`, hedges with three.
    """

    def __init__(self, seed: int, **fields: Any) -> None:
        from determined.search.searcher import Searcher

        config = {
            "name": "adaptive_asha",
            "metric": "loss",
            "smaller_is_better": True,
            "time_metric": "epochs",
            "max_time": EPOCHS,
            "max_trials": MANY,
            "max_concurrent_trials": 4,
            **fields,
        }
        space = {name: {"type": "int", "minval": 0, "maxval": size - 1} for name, size in SIZES.items()}
        self._searcher = Searcher.create(config, space, seed=seed, classic=False)
        self._waiting: deque[Any] = deque()
        self._stopped: set[str] = set()
        self._take(self._searcher.start())

    def ask(self) -> tuple[str, dict[str, int]] | None:
        if not self._waiting:
            return None
        create = self._waiting.popleft()
        self._take(self._searcher.trial_created(create.request_id))
        return create.request_id, create.hparams

    def tell(self, trial: str, epoch: int, loss: float) -> bool:
        self._take(self._searcher.validation(trial, loss, epoch))
        return trial not in self._stopped

    def ended(self, trial: str, epoch: int, loss: float) -> None:
        self._take(self._searcher.exited(trial))

    def _take(self, operations: list[Any]) -> None:
        for operation in operations:
            if type(operation).__name__ == "Create":
                self._waiting.append(operation)
            elif type(operation).__name__ == "Stop":
                self._stopped.add(operation.request_id)
        while held := self._searcher.proposals():
            self._take(self._searcher.proposed(held[0], self._searcher.propose(held[0])))


class RayAsha(Method):
    """Ray Tune's AsyncHyperBandScheduler over uniformly drawn points (its BasicVariantGenerator draws the same way)."""

    def __init__(self, seed: int) -> None:
        from ray.tune.schedulers import AsyncHyperBandScheduler

        np.random.seed(seed)  # the scheduler draws brackets from the global generator
        self._scheduler = AsyncHyperBandScheduler(time_attr="epoch", metric="loss", mode="min", max_t=EPOCHS)
        self._rng = np.random.default_rng(seed)
        self._trials: dict[str, Any] = {}

    def ask(self) -> tuple[str, dict[str, int]]:
        trial = _RayTrial(str(len(self._trials)))
        self._trials[trial.trial_id] = trial
        self._scheduler.on_trial_add(None, trial)
        return trial.trial_id, {name: int(self._rng.integers(size)) for name, size in SIZES.items()}

    def tell(self, trial: str, epoch: int, loss: float) -> bool:
        result = {"epoch": epoch, "loss": loss}
        return self._scheduler.on_trial_result(None, self._trials[trial], result) == self._scheduler.CONTINUE


class _RayTrial:
    """Trial with all that the scheduler looks at."""

    def __init__(self, trial_id: str) -> None:
        self.trial_id = trial_id


class SyneTuneAsha(Method):
    def __init__(self, seed: int) -> None:
        from syne_tune import config_space
        from syne_tune.optimizer.baselines import ASHA

        np.random.seed(seed)  # brackets, as in Ray
        space = {name: config_space.randint(0, size - 1) for name, size in SIZES.items()}
        self._scheduler = ASHA(space, metric="loss", time_attr="epoch", max_t=EPOCHS, random_seed=seed)
        self._trials: dict[str, Any] = {}

    def ask(self) -> tuple[str, dict[str, int]]:
        import datetime

        from syne_tune.backend.trial_status import Trial

        config = self._scheduler.suggest().config
        number = len(self._trials)
        trial = Trial(number, config, datetime.datetime.now(datetime.UTC))
        self._trials[str(number)] = trial
        self._scheduler.on_trial_add(trial)
        return str(number), {name: int(config[name]) for name in SIZES}

    def tell(self, trial: str, epoch: int, loss: float) -> bool:
        answer = self._scheduler.on_trial_result(self._trials[trial], {"epoch": epoch, "loss": loss})
        return answer == "CONTINUE"


class OptunaTpe(Method):
    """Ask and tell with the TPE sampler; `hyperband` adds that pruner. constant_liar: trials run side by side."""

    def __init__(self, seed: int, *, hyperband: bool = False) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.simplefilter("ignore")
        pruner = optuna.pruners.HyperbandPruner(max_resource=EPOCHS) if hyperband else optuna.pruners.NopPruner()
        sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
        self._pruned = optuna.trial.TrialState.PRUNED
        self._study = optuna.create_study(sampler=sampler, pruner=pruner)
        self._trials: dict[str, Any] = {}

    def ask(self) -> tuple[str, dict[str, int]]:
        trial = self._study.ask()
        self._trials[str(trial.number)] = trial
        return str(trial.number), {name: trial.suggest_int(name, 0, size - 1) for name, size in SIZES.items()}

    def tell(self, trial: str, epoch: int, loss: float) -> bool:
        self._trials[trial].report(loss, epoch)
        return epoch == EPOCHS or not self._trials[trial].should_prune()

    def ended(self, trial: str, epoch: int, loss: float) -> None:
        if epoch == EPOCHS:
            self._study.tell(self._trials[trial], loss)
        else:
            self._study.tell(self._trials[trial], state=self._pruned)


METHODS: dict[str, Callable[[int], Method]] = {
    "determined adaptive_asha": Ours,
    "determined adaptive_asha + tpe": lambda seed: Ours(seed, sampler="tpe"),
    "determined adaptive_asha, aggressive": lambda seed: Ours(seed, mode="aggressive"),
    "determined adaptive_asha, aggressive + tpe": lambda seed: Ours(seed, mode="aggressive", sampler="tpe"),
    "ray asha": RayAsha,
    "syne tune asha": SyneTuneAsha,
    "optuna tpe": OptunaTpe,
    "optuna tpe + hyperband": lambda seed: OptunaTpe(seed, hyperband=True),
}
