"""A network whose optimizer (ZeRO 1) or parameters as well (ZeRO 3) are spread over the slots by DeepSpeed."""

import deepspeed
import torch
from data import CLASSES, FEATURES, points
from torch import nn

from determined import pytorch
from determined.pytorch import deepspeed as det_ds


class ZeroTrial(det_ds.DeepSpeedTrial):
    def __init__(self, context):
        self.context = context
        config = det_ds.overwrite_deepspeed_config(
            context.get_hparam("deepspeed_config"), context.get_hparam("overwrite_deepspeed_args")
        )
        net = nn.Sequential(
            nn.Linear(FEATURES, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, CLASSES)
        )
        engine, *_ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
        self.engine = context.wrap_model_engine(engine)
        self.loss = nn.CrossEntropyLoss()

    def build_training_data_loader(self):
        size = self.context.get_train_micro_batch_size_per_gpu()
        return pytorch.DataLoader(points(2048, seed=1), batch_size=size, shuffle=True)

    def build_validation_data_loader(self):
        return pytorch.DataLoader(points(512, seed=2), batch_size=self.context.get_train_micro_batch_size_per_gpu())

    def train_batch(self, dataloader_iter, epoch_idx, batch_idx):
        inputs, labels = self.context.to_device(next(dataloader_iter))
        loss = self.loss(self.engine(inputs), labels)
        self.engine.backward(loss)
        self.engine.step()
        return {"loss": loss}

    def evaluate_batch(self, dataloader_iter, batch_idx):
        inputs, labels = self.context.to_device(next(dataloader_iter))
        scores = self.engine(inputs)
        accuracy = (scores.argmax(dim=1) == labels).float().mean()
        return {"validation_loss": self.loss(scores, labels), "accuracy": accuracy}


if __name__ == "__main__":
    torch.manual_seed(7)
    hparams = {"deepspeed_config": "ds_config.json", "overwrite_deepspeed_args": {"zero_optimization": {"stage": 3}}}
    with det_ds.init(hparams=hparams) as context:
        trainer = det_ds.Trainer(ZeroTrial(context), context)
        trainer.fit(max_length=pytorch.Epoch(1), validation_period=pytorch.Epoch(1))
