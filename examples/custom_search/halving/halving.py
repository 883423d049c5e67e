"""A search method of one's own: many short trainings, the better half of them longer, and so on."""

import json
import pathlib
import random
import uuid

from determined import searcher

WORST = 1e9


class Halving(searcher.SearchMethod):
    """`trials` trials of length `shortest`; when all have validated, the worse half ends and the length doubles."""

    def __init__(self, trials: int = 4, shortest: int = 5, longest: int = 20, seed: int = 1) -> None:
        self.trials, self.length, self.longest = trials, shortest, longest
        self.random = random.Random(seed)
        self.metrics: dict[str, float] = {}  # of this round, by request id
        self.running: list[str] = []  # trials of this round

    def initial_operations(self, searcher_state):
        operations = []
        for _ in range(self.trials):
            request_id = uuid.UUID(int=self.random.getrandbits(128), version=4)
            hparams = {"learning_rate": 10 ** self.random.uniform(-3, -0.5)}
            operations += [searcher.Create(request_id, hparams), searcher.ValidateAfter(request_id, self.length)]
            self.running.append(str(request_id))
        return operations

    def on_trial_created(self, searcher_state, request_id):
        return []

    def on_validation_completed(self, searcher_state, request_id, metric, train_length):
        self.metrics[str(request_id)] = metric
        return self._end_round_if_complete()

    def on_trial_exited_early(self, searcher_state, request_id, exited_reason):
        self.metrics[str(request_id)] = WORST
        return self._end_round_if_complete()

    def on_trial_closed(self, searcher_state, request_id):
        return [searcher.Shutdown()] if len(searcher_state.trials_closed) == self.trials else []

    def progress(self, searcher_state):
        return len(searcher_state.trials_closed) / self.trials

    def _end_round_if_complete(self):
        if len(self.metrics) < len(self.running):
            return []
        best_first = sorted(self.running, key=lambda trial: (self.metrics[trial], trial))
        half = len(best_first) // 2 if self.length * 2 <= self.longest else 0
        survivors = [trial for trial in best_first[:half] if self.metrics[trial] < WORST]
        self.length, self.metrics, self.running = self.length * 2, {}, survivors
        operations = [searcher.ValidateAfter(uuid.UUID(trial), self.length) for trial in survivors]
        return operations + [searcher.Close(uuid.UUID(trial)) for trial in best_first if trial not in survivors]

    def save_method_state(self, path: pathlib.Path) -> None:
        state = {"length": self.length, "metrics": self.metrics, "running": self.running}
        (path / "halving.json").write_text(json.dumps(state))

    def load_method_state(self, path: pathlib.Path) -> None:
        self.__dict__.update(json.loads((path / "halving.json").read_text()))
