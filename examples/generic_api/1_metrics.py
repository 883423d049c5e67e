"""Step 1: the same script reports its metrics and its checkpoint."""

import torch
from data import build_data
from model import build_model, eval_model, train_model

import determined as det

BATCH_SIZE = 32
LR = 0.00001
EPOCHS = 50

if __name__ == "__main__":
    context = det.generic.init()

    model, loss_fn, opt = build_model(LR)
    train_data, eval_data = build_data(BATCH_SIZE)
    batches_trained = 0

    for epoch in range(EPOCHS):
        train_loss = train_model(model, loss_fn, opt, train_data)
        print(f"after epoch {epoch}, train_loss={train_loss}", flush=True)
        batches_trained += len(train_data)
        context.training.report_training_metrics(batches_trained=batches_trained, metrics={"loss": train_loss})

        eval_loss = eval_model(model, loss_fn, eval_data)
        print(f"after epoch {epoch}, eval_loss={eval_loss}", flush=True)
        context.training.report_validation_metrics(batches_trained=batches_trained, metrics={"loss": eval_loss})

    with context.checkpoint.save_path() as path:
        torch.save(model.state_dict(), f"{path}/my_checkpoint")
