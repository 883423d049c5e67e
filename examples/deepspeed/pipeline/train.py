"""A network cut into stages, one for each slot, by DeepSpeed's pipeline; run by a script of its own."""

import deepspeed
import torch
from data import CLASSES, FEATURES, points
from deepspeed.pipe import PipelineModule
from torch import nn

import determined as det
from determined import pytorch
from determined.pytorch import deepspeed as det_ds


class PipelineTrial(det_ds.DeepSpeedTrial):
    def __init__(self, context):
        self.context = context
        config = det_ds.overwrite_deepspeed_config(
            "ds_config.json", {"optimizer": {"params": {"lr": context.get_hparam("lr")}}}
        )
        layers = [
            nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
            nn.Linear(64, CLASSES),
        ]  # fmt: skip
        net = PipelineModule(layers, num_stages=context.distributed.size, loss_fn=nn.CrossEntropyLoss())
        engine, *_ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
        self.engine = context.wrap_model_engine(engine)

    def build_training_data_loader(self):
        size = self.context.get_train_micro_batch_size_per_gpu()
        return pytorch.DataLoader(points(2048, seed=1), batch_size=size, shuffle=True)

    def build_validation_data_loader(self):
        return pytorch.DataLoader(points(512, seed=2), batch_size=self.context.get_train_micro_batch_size_per_gpu())

    def train_batch(self, dataloader_iter, epoch_idx, batch_idx):
        return {"loss": self.engine.train_batch(data_iter=dataloader_iter)}  # all micro batches of the batch

    def evaluate_batch(self, dataloader_iter, batch_idx):
        return {"validation_loss": self.engine.eval_batch(data_iter=dataloader_iter)}


def main():
    info = det.get_cluster_info()
    hparams = info.trial.hparams if info else {"lr": 0.003, "batches": 96}
    if info is None:
        torch.manual_seed(7)
    with det_ds.init(hparams=hparams) as context:
        trainer = det_ds.Trainer(PipelineTrial(context), context)
        trainer.fit(
            max_length=pytorch.Batch(context.get_hparam("batches")),
            validation_period=pytorch.Batch(32),
            reporting_period=pytorch.Batch(16),
            latest_checkpoint=info.latest_checkpoint if info else None,
        )


if __name__ == "__main__":
    main()
