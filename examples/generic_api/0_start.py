"""Starting point: a training script that knows nothing of Determined."""

import torch
from data import build_data
from model import build_model, eval_model, train_model

BATCH_SIZE = 32
LR = 0.00001
EPOCHS = 50

if __name__ == "__main__":
    model, loss_fn, opt = build_model(LR)
    train_data, eval_data = build_data(BATCH_SIZE)

    for epoch in range(EPOCHS):
        train_loss = train_model(model, loss_fn, opt, train_data)
        print(f"after epoch {epoch}, train_loss={train_loss}", flush=True)

        eval_loss = eval_model(model, loss_fn, eval_data)
        print(f"after epoch {epoch}, eval_loss={eval_loss}", flush=True)

    torch.save(model.state_dict(), "kept/weights.pt")
