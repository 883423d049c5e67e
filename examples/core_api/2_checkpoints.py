"""Stage 2: the same loop saves its state, goes on from it, and leaves when it is asked to."""

import json
import logging
import pathlib
import time

import determined as det


def save_state(x: float, steps_completed: int, trial_id: int, directory: pathlib.Path) -> None:
    state = {"x": x, "steps_completed": steps_completed, "trial_id": trial_id}
    (directory / "state.json").write_text(json.dumps(state))


def load_state(trial_id: int, directory: pathlib.Path) -> tuple[float, int]:
    """The weight and the batch to start from.

    A trial that was paused goes on from its own batch. Another trial that was given this checkpoint to begin with keeps
    the weight and counts its batches from the start: the trial id in the checkpoint tells which case it is.
    """
    state = json.loads((directory / "state.json").read_text())
    if state["trial_id"] == trial_id:
        return state["x"], state["steps_completed"]
    return state["x"], 0


def main(core_context: det.core.Context, latest_checkpoint: str | None, trial_id: int, increment_by: float) -> None:
    x, starting_batch = 0.0, 0
    if latest_checkpoint is not None:
        with core_context.checkpoint.restore_path(latest_checkpoint) as path:
            x, starting_batch = load_state(trial_id, path)
        logging.info("going on from checkpoint %s at batch %s", latest_checkpoint, starting_batch)

    for batch in range(starting_batch, 100):
        x += increment_by
        steps_completed = batch + 1
        time.sleep(0.1)
        if steps_completed % 10 == 0:
            logging.info("steps_completed=%s x=%s", steps_completed, x)
            core_context.train.report_training_metrics(steps_completed=steps_completed, metrics={"x": x})
            metadata = {"steps_completed": steps_completed}
            with core_context.checkpoint.store_path(metadata) as (path, _storage_id):
                save_state(x, steps_completed, trial_id, path)
            if core_context.preempt.should_preempt():
                return
    core_context.train.report_validation_metrics(steps_completed=100, metrics={"x": x})


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    on_cluster = info is not None and info.task_type == "TRIAL"
    latest_checkpoint = info.latest_checkpoint if on_cluster else None
    trial_id = info.trial.trial_id if on_cluster else -1
    with det.core.init() as core_context:
        main(core_context, latest_checkpoint, trial_id, increment_by=1.0)
