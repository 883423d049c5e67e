"""Object detection: batches of nested dicts and lists, a collate function, and a metric over all slots."""

import logging
from typing import Any

import torch
from data import Shapes, collate
from model import Detector, detections, losses
from precision import MeanAveragePrecision

import determined as det
from determined import pytorch


class DetectionTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        self.model = context.wrap_model(Detector(context.get_hparam("width")))
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=context.get_hparam("lr"))
        self.optimizer = context.wrap_optimizer(optimizer)
        milestones = [context.get_hparam("epochs") * 2 // 3]
        context.wrap_lr_scheduler(
            torch.optim.lr_scheduler.MultiStepLR(self.optimizer, milestones),
            step_mode=pytorch.LRScheduler.StepMode.STEP_EVERY_EPOCH,
        )
        # A detection's score counts against those of all other pictures: no average of batches gives this metric.
        self.precision = context.wrap_reducer(MeanAveragePrecision(), name="mAP", for_training=False)

    def build_training_data_loader(self) -> pytorch.DataLoader:
        pictures = Shapes(self.context.get_hparam("pictures"), seed=1, flip=True)
        size = self.context.get_per_slot_batch_size()
        return pytorch.DataLoader(pictures, batch_size=size, shuffle=True, collate_fn=collate)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        size = self.context.get_per_slot_batch_size()
        return pytorch.DataLoader(Shapes(64, seed=2), batch_size=size, collate_fn=collate)

    def get_batch_length(self, batch: Any) -> int:
        """The first tensor of a batch is a picture here, and its length is the number of its colours."""
        return len(batch["images"])

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        found = losses(self.model(batch["images"]), batch["targets"])
        loss = torch.stack(list(found.values())).sum()
        self.context.backward(loss)
        self.context.step_optimizer(
            self.optimizer, clip_grads=lambda parameters: torch.nn.utils.clip_grad_norm_(parameters, 10.0)
        )
        return {"loss": loss, **found}

    def evaluate_batch(self, batch: Any) -> dict[str, Any]:
        maps = self.model(batch["images"])
        self.precision.update(detections(maps), batch["targets"])
        return {f"validation_{name}": value for name, value in losses(maps, batch["targets"]).items()}


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    hparams = (
        info.trial.hparams if info else {"global_batch_size": 16, "pictures": 64, "width": 16, "lr": 0.01, "epochs": 2}
    )
    with pytorch.init(hparams=hparams) as context:
        trainer = pytorch.Trainer(DetectionTrial(context), context)
        trainer.fit(
            max_length=pytorch.Epoch(hparams["epochs"]),
            validation_period=pytorch.Epoch(5),
            reporting_period=pytorch.Batch(20),
            latest_checkpoint=info.latest_checkpoint if info else None,
        )


if __name__ == "__main__":
    main()
