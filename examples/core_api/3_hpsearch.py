"""Stage 3: a search chooses the hyperparameter and how long each trial trains; a trial may stop and go on later."""

import json
import logging
import pathlib
import time

import determined as det


def save_state(x: float, steps_completed: int, trial_id: int, directory: pathlib.Path) -> None:
    state = {"x": x, "steps_completed": steps_completed, "trial_id": trial_id}
    (directory / "state.json").write_text(json.dumps(state))


def load_state(trial_id: int, directory: pathlib.Path) -> tuple[float, int]:
    """The weight and the batch to start from; another trial's checkpoint gives its weight only."""
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

    batch = starting_batch
    last_checkpoint_batch = starting_batch
    for op in core_context.searcher.operations():
        # op.length is absolute: a trial that is promoted trains only what is missing.
        while batch < op.length:
            x += increment_by
            batch += 1
            time.sleep(0.1)
            if batch % 10 == 0:
                logging.info("steps_completed=%s x=%s", batch, x)
                core_context.train.report_training_metrics(steps_completed=batch, metrics={"x": x})
                op.report_progress(batch)
                with core_context.checkpoint.store_path({"steps_completed": batch}) as (path, _storage_id):
                    save_state(x, batch, trial_id, path)
                last_checkpoint_batch = batch
                if core_context.preempt.should_preempt():
                    return
        # Save before completing: a trial that ended between the two would be complete and have no checkpoint.
        if last_checkpoint_batch != batch:
            with core_context.checkpoint.store_path({"steps_completed": batch}) as (path, _storage_id):
                save_state(x, batch, trial_id, path)
            last_checkpoint_batch = batch
        core_context.train.report_validation_metrics(steps_completed=batch, metrics={"x": x})
        op.report_completed(x)
    # Nothing more to train for now. If the search wants more of this trial later, it starts again from its checkpoint.


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    on_cluster = info is not None and info.task_type == "TRIAL"
    latest_checkpoint = info.latest_checkpoint if on_cluster else None
    trial_id = info.trial.trial_id if on_cluster else -1
    hparams = info.trial.hparams if on_cluster else {"increment_by": 1}
    with det.core.init() as core_context:
        main(core_context, latest_checkpoint, trial_id, increment_by=hparams["increment_by"])
