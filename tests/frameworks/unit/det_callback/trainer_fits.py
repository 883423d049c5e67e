"""Small trainings of a task: left alone, or paused at a step and gone on with in what could be another process."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from task_around import FakeRunner
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

from determined import core
from determined.transformers import DetCallback
from determined.wire.report import CheckpointReport, MetricReport, PreemptAck

RECORDS, BATCH = 20, 4  # five steps an epoch
SEARCHER = {"name": "single", "metric": "eval_loss"}

Metrics = dict[str, Any]


@dataclass
class Trained:
    """Result of a training."""

    weights: dict[str, torch.Tensor]
    steps: int
    training: dict[int, Metrics] = field(default_factory=dict)
    validation: dict[int, Metrics] = field(default_factory=dict)
    checkpoints: list[CheckpointReport] = field(default_factory=list)
    is_preempted: bool = False
    told: list[Any] = field(default_factory=list)  # every record, in its order


class Pausing(TrainerCallback):
    """The cluster wants the slots back in the middle of step `pause_in`, from 1."""

    def __init__(self, runner: FakeRunner, pause_in: int | None) -> None:
        self.runner, self.pause_in = runner, pause_in

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.pause_in is not None and state.global_step + 1 == self.pause_in:
            self.runner.control.preempt = True


class Records(torch.utils.data.Dataset[Any]):
    def __init__(self, count: int, seed: int) -> None:
        draws = torch.Generator().manual_seed(seed)
        self._words = torch.randint(0, 10, (count, 6), generator=draws)

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, index: int) -> Metrics:
        words = self._words[index]
        return {"input_ids": words, "labels": int(words.sum() > 27)}


def train(
    task: Any,
    runner: FakeRunner,
    *,
    searcher: Metrics | None = None,
    pause_in: int | None = None,
    latest: str | None = None,
    options: Metrics | None = None,
    beside: tuple[list[Any], list[Any]] = ([], []),
    held_out: Any = None,
    first: Callable[[Trainer], Any] = lambda trainer: None,
    then: Callable[[Trainer], Any] = lambda trainer: None,
    is_resumed: bool = True,
    **arguments: Any,
) -> Trained:
    """Train a new model in an empty output directory. `options` are the callback's, `arguments` the Trainer's.

    Callbacks `beside` it come before and after it; `first` and `then` are what the script does around the training.
    """
    task(searcher=searcher or SEARCHER, latest_checkpoint=latest)
    shutil.rmtree("output", ignore_errors=True)
    set_seed(3)
    known = len(runner.records)
    runner.control.preempt = False
    args = make_arguments(**arguments)
    with core.init() as core_context:
        callback = DetCallback(core_context, args, **(options or {}))
        callbacks = [Pausing(runner, pause_in), *beside[0], callback, *beside[1]]
        trainer = make_trainer(args, callbacks, held_out)
        first(trainer)
        trainer.train(resume_from_checkpoint=args.resume_from_checkpoint if is_resumed else None)
        then(trainer)
        core_context.train.set_status("done")
        core_context._reporter.settle()
    return _trained(trainer, runner.records[known:])


def make_arguments(**arguments: Any) -> TrainingArguments:
    usual: Metrics = {
        "output_dir": str(Path("output")),
        "use_cpu": True,
        "per_device_train_batch_size": BATCH,
        "learning_rate": 0.01,
        "num_train_epochs": 3,
        "logging_steps": 2,
        "eval_strategy": "epoch",
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "seed": 3,
    }
    return TrainingArguments(**(usual | arguments))


def make_trainer(args: TrainingArguments, callbacks: list[Any], held_out: Any = None) -> Trainer:
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    model = BertForSequenceClassification(BertConfig(vocab_size=10, max_position_embeddings=8, num_labels=2, **sizes))
    held_out = Records(8, 2) if held_out is None else held_out
    return Trainer(model, args, train_dataset=Records(RECORDS, 1), eval_dataset=held_out, callbacks=callbacks)


def _trained(trainer: Trainer, told: list[Any]) -> Trained:
    reports = [record for record in told if isinstance(record, MetricReport)]
    return Trained(
        weights={name: value.detach().clone() for name, value in trainer.model.state_dict().items()},
        steps=trainer.state.global_step,
        training={report.steps: report.metrics for report in reports if report.group == "training"},
        validation={report.steps: report.metrics for report in reports if report.group == "validation"},
        checkpoints=[record for record in told if isinstance(record, CheckpointReport)],
        is_preempted=any(isinstance(record, PreemptAck) for record in told),
        told=told,
    )
