"""Trial class of train_loop_trial.py, sent with its experiment: reports the pairs that it measured as JSON."""

import json
from typing import Any

import torch
from torch import nn

import train_loop_work as work  # beside this file, in the context directory
from determined import pytorch

torch.set_num_threads(1)


class Trial(pytorch.PyTorchTrial):
    """The trial of train_loop_frameworks.py, which its dataset interrupts for turns of the plain loop."""

    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        case = context.get_hparam("case")
        self.size = work.Size(case["width"], case["batch"], case["device"], case["elsewhere"])
        self.case = work.Case(self.size, case["stride"], case["pairs"])
        self.switch = work.Switch(self.size, self.case.stride)
        self.model = context.wrap_model(self.size.model())
        self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), lr=1e-3))
        self.compute = nn.CrossEntropyLoss()

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, torch.Tensor]:
        inputs, labels = batch
        loss = self.compute(self.model(inputs), labels)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch: Any) -> dict[str, float]:
        print("PAIRS " + json.dumps(self.switch.pairs()[: self.case.pairs]), flush=True)
        return {"validation_loss": 0.0}

    def build_training_data_loader(self) -> pytorch.DataLoader:
        batches = work.Batches(self.size, self.case.steps, self.switch)
        return pytorch.DataLoader(batches, batch_size=self.size.batch, collate_fn=work.as_it_is)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(
            work.Batches(self.size, 1),
            batch_size=self.size.batch,
            collate_fn=work.as_it_is,
        )
