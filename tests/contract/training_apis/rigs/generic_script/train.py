"""Trains as the searcher says, reports, saves after every second batch and leaves when it is asked to."""

import json
from pathlib import Path

from line import Line

import determined as det


def save(context: det.generic.Context, line: Line, batches: int) -> None:
    with context.checkpoint.save_path() as path:
        Path(path, "state.json").write_text(json.dumps({"batches": batches, "line": line.state()}))


def main(context: det.generic.Context) -> None:
    lr = float(context.training.hparams["lr"])
    if lr < 0:
        raise det.InvalidHP("lr is negative")
    line, batches = Line(lr, context.training.trial_seed), 0
    if context.latest_checkpoint is not None:
        with context.latest_checkpoint as path:
            state = json.loads(Path(path, "state.json").read_text())
        line.load(state["line"])
        batches = state["batches"]
    for op in context.training.advanced_search():
        while batches < op.batches:
            loss = line.train_batch()
            batches += 1
            if batches % 2 == 0:
                context.training.report_training_metrics(batches_trained=batches, metrics={"loss": loss})
                op.report_progress(batches)
                save(context, line, batches)
            if batches % 4 == 0:
                metrics = {"validation_loss": line.loss()}
                context.training.report_validation_metrics(batches_trained=batches, metrics=metrics)
            if batches % 2 == 0 and context.should_preempt():
                return
        op.complete(line.loss())


if __name__ == "__main__":
    with det.generic.init() as context:
        main(context)
