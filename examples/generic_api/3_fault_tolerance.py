"""Step 3: the script saves every epoch, goes on from where it stopped, and leaves when it is asked to."""

import random

import torch
from data import build_data
from model import build_model, eval_model, train_model

import determined as det

if __name__ == "__main__":
    context = det.generic.init(hparams={"learning_rate": 0.001, "batch_size": 32}, max_length={"epochs": 5})

    seed = context.training.trial_seed
    random.seed(seed)
    torch.random.manual_seed(seed)

    hparams = context.training.hparams
    model, loss_fn, opt = build_model(hparams["learning_rate"])
    train_data, eval_data = build_data(hparams["batch_size"])
    last_epoch = -1
    batches_trained = 0

    if context.latest_checkpoint is not None:
        with context.latest_checkpoint as path:
            state = torch.load(f"{path}/my_checkpoint")
        model.load_state_dict(state["model"])
        last_epoch = state["epoch"]
        batches_trained = state["batches_trained"]
        print(f"going on after epoch {last_epoch}", flush=True)

    searcher_op = context.training.basic_search()

    # Only train for the amount that remains.
    for epoch in range(last_epoch + 1, searcher_op.epochs):
        if context.should_preempt():
            break

        train_loss = train_model(model, loss_fn, opt, train_data)
        batches_trained += len(train_data)
        context.training.report_training_metrics(batches_trained=batches_trained, metrics={"loss": train_loss})

        eval_loss = eval_model(model, loss_fn, eval_data)
        context.training.report_validation_metrics(batches_trained=batches_trained, metrics={"loss": eval_loss})
        print(f"after epoch {epoch}, train_loss={train_loss}, eval_loss={eval_loss}", flush=True)

        # Every epoch, and before completing: a trial that is promoted later goes on from here, and one that ended
        # between the two would be complete and have no checkpoint.
        state = {"model": model.state_dict(), "epoch": epoch, "batches_trained": batches_trained}
        with context.checkpoint.save_path() as path:
            torch.save(state, f"{path}/my_checkpoint")

        if epoch == searcher_op.epochs - 1:
            searcher_op.complete(eval_loss)
        else:
            searcher_op.report_progress(epoch + 1)
