"""Step 2: hyperparameters, seed and length of training come from the search."""

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
    batches_trained = 0

    # All this script wants to know of the search is how long to train.
    searcher_op = context.training.basic_search()

    for epoch in range(searcher_op.epochs):
        train_loss = train_model(model, loss_fn, opt, train_data)
        batches_trained += len(train_data)
        context.training.report_training_metrics(batches_trained=batches_trained, metrics={"loss": train_loss})

        eval_loss = eval_model(model, loss_fn, eval_data)
        context.training.report_validation_metrics(batches_trained=batches_trained, metrics={"loss": eval_loss})
        print(f"after epoch {epoch}, train_loss={train_loss}, eval_loss={eval_loss}", flush=True)

        if epoch < searcher_op.epochs - 1:
            searcher_op.report_progress(epoch + 1)

    # Save before completing: a trial that ended between the two would be complete and have no checkpoint.
    with context.checkpoint.save_path() as path:
        torch.save(model.state_dict(), f"{path}/my_checkpoint")
    searcher_op.complete(eval_loss)
