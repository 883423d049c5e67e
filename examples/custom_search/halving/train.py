"""The trial: gradient descent on (x - 3)^2 as far as the search wants, from its checkpoint when it wants more."""

import json
import logging
import pathlib
import time

import determined as det


def main(core_context: det.core.Context, latest_checkpoint: str | None, learning_rate: float) -> None:
    x, steps = 0.0, 0
    if latest_checkpoint is not None:
        with core_context.checkpoint.restore_path(latest_checkpoint) as path:
            x, steps = json.loads((path / "state.json").read_text())

    for operation in core_context.searcher.operations():
        while steps < operation.length:
            time.sleep(0.01)
            x -= learning_rate * 2 * (x - 3)
            steps += 1
        save(core_context, x, steps)
        loss = (x - 3) ** 2
        core_context.train.report_validation_metrics(steps_completed=steps, metrics={"loss": loss})
        operation.report_completed(loss)
        logging.info("trained to %s, loss %s", steps, loss)
        if core_context.preempt.should_preempt():
            return


def save(core_context: det.core.Context, x: float, steps: int) -> None:
    path: pathlib.Path
    with core_context.checkpoint.store_path({"steps_completed": steps}) as (path, _):
        (path / "state.json").write_text(json.dumps([x, steps]))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    assert info is not None, "this script runs as a trial of the experiment in config.yaml"
    with det.core.init() as core_context:
        main(core_context, info.latest_checkpoint, info.trial.hparams["learning_rate"])
