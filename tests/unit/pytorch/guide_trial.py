"""The trial that the PyTorch guide of release 0.17 builds up snippet by snippet, on pictures made by image_folder."""

import os
import shutil
from pathlib import Path
from typing import Any

import image_folder as datasets
import image_folder as transforms
import torch
from torch import nn

import determined.pytorch
from determined.pytorch import DataLoader, LRScheduler, PyTorchTrial, PyTorchTrialContext, TorchData

HPARAMS = {"global_batch_size": 4, "lr": 0.1, "momentum": 0.9, "weight_decay": 1e-4, "workers": 0}
EPOCH = datasets.CLASSES * datasets.PER_CLASS // HPARAMS["global_batch_size"]  # batches
CROP = 8


def download_data(download_directory: str, url: str) -> str:
    shutil.copytree(url, download_directory)  # fails where another rank was before
    return download_directory


class MyTrial(PyTorchTrial):
    step_mode = LRScheduler.StepMode.STEP_EVERY_EPOCH

    def __init__(self, context: PyTorchTrialContext) -> None:
        self.context = context

        # Create a unique download directory for each rank so they don't overwrite each
        # other when doing distributed training.
        self.download_directory = f"{Path.cwd()}/data-rank{self.context.distributed.get_rank()}"
        self.download_directory = download_data(
            download_directory=self.download_directory,
            url=self.context.get_data_config()["url"],
        )
        torch.manual_seed(1)
        model = nn.Sequential(nn.Flatten(), nn.Linear(3 * CROP * CROP, datasets.CLASSES))
        self.model = self.context.wrap_model(model)
        self.criterion = nn.CrossEntropyLoss()
        optimizer = torch.optim.SGD(
            self.model.parameters(),
            self.context.get_hparam("lr"),
            momentum=self.context.get_hparam("momentum"),
            weight_decay=self.context.get_hparam("weight_decay"),
        )
        self.optimizer = self.context.wrap_optimizer(optimizer)
        lr_sch = torch.optim.lr_scheduler.StepLR(self.optimizer, gamma=0.1, step_size=2)
        self.lr_sch = self.context.wrap_lr_scheduler(lr_sch, step_mode=self.step_mode)

    def build_training_data_loader(self) -> DataLoader:
        traindir = os.path.join(self.download_directory, "train")  # noqa: PTH118  as the guide has it
        self.normalize = transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])

        train_dataset = datasets.ImageFolder(
            traindir,
            transforms.Compose(
                [
                    transforms.RandomResizedCrop(CROP),
                    transforms.RandomHorizontalFlip(),
                    transforms.ToTensor(),
                    self.normalize,
                ]
            ),
        )
        return determined.pytorch.DataLoader(
            train_dataset,
            batch_size=self.context.get_per_slot_batch_size(),
            shuffle=True,
            num_workers=self.context.get_hparam("workers"),
            pin_memory=True,
        )

    def build_validation_data_loader(self) -> DataLoader:
        valdir = os.path.join(self.download_directory, "val")  # noqa: PTH118  as the guide has it
        plain = transforms.Compose([transforms.ToTensor(), self.normalize, lambda image: image[:, :CROP, :CROP]])
        return DataLoader(datasets.ImageFolder(valdir, plain), batch_size=self.context.get_per_slot_batch_size())

    def train_batch(self, batch: TorchData, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        images, target = batch
        output = self.model(images)
        loss = self.criterion(output, target)
        acc1, acc5 = accuracy(output, target, topk=(1, 5))

        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)

        return {"loss": loss.item(), "top1": acc1[0], "top5": acc5[0]}

    def evaluate_batch(self, batch: TorchData) -> dict[str, Any]:
        images, target = batch
        output = self.model(images)
        acc1, acc5 = accuracy(output, target, topk=(1, 5))
        return {"val_loss": self.criterion(output, target), "val_top1": acc1[0], "val_top5": acc5[0]}


def accuracy(output: torch.Tensor, target: torch.Tensor, topk: tuple[int, ...]) -> list[torch.Tensor]:
    """In percent, each in a tensor of one element."""
    right = output.topk(max(topk), dim=1).indices == target[:, None]
    return [right[:, :k].any(dim=1).float().mean().mul(100).reshape(1) for k in topk]
