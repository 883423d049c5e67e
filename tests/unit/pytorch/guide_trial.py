"""A trial with everything that the PyTorch guide of release 0.17 tells users to write: data of each rank's own, varied
pictures, a schedule, and accuracies among its metrics. The pictures are made by image_folder."""

import shutil
from pathlib import Path
from typing import Any

import image_folder
import torch

from determined.pytorch import DataLoader, LRScheduler, PyTorchTrial, PyTorchTrialContext, TorchData

HPARAMS = {"global_batch_size": 4, "lr": 0.1, "momentum": 0.9, "weight_decay": 1e-4, "workers": 0}
EPOCH = image_folder.CLASSES * image_folder.PER_CLASS // HPARAMS["global_batch_size"]  # batches
CROP = 8
CENTRED = image_folder.Normalize(mean=[0.5, 0.4, 0.3], std=[0.2, 0.25, 0.3])


def fetch(url: str, rank: int) -> str:
    """Copy the pictures to a directory of this rank's; fails where another rank was before."""
    return str(shutil.copytree(url, Path.cwd() / f"data-rank{rank}"))


class MyTrial(PyTorchTrial):
    step_mode = LRScheduler.StepMode.STEP_EVERY_EPOCH

    def __init__(self, context: PyTorchTrialContext) -> None:
        self.context = context
        self.download_directory = fetch(context.get_data_config()["url"], context.distributed.get_rank())
        torch.manual_seed(1)
        layers = torch.nn.Flatten(), torch.nn.Linear(3 * CROP * CROP, image_folder.CLASSES)
        self.model = context.wrap_model(torch.nn.Sequential(*layers))
        chosen = {name: context.get_hparam(name) for name in ("lr", "momentum", "weight_decay")}
        self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), **chosen))
        falling = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=2, gamma=0.1)
        self.lr_sch = context.wrap_lr_scheduler(falling, step_mode=self.step_mode)

    def build_training_data_loader(self) -> DataLoader:
        steps = image_folder.RandomResizedCrop(CROP), image_folder.RandomHorizontalFlip(), image_folder.ToTensor()
        return self._loader("train", *steps, CENTRED, shuffle=True, pin_memory=True)

    def build_validation_data_loader(self) -> DataLoader:
        return self._loader("val", image_folder.ToTensor(), CENTRED, lambda image: image[:, :CROP, :CROP])

    def train_batch(self, batch: TorchData, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        loss, first, fifth = self._looked_at(batch)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss.item(), "top1": first, "top5": fifth}

    def evaluate_batch(self, batch: TorchData) -> dict[str, Any]:
        loss, first, fifth = self._looked_at(batch)
        return {"val_loss": loss, "val_top1": first, "val_top5": fifth}

    def _loader(self, part: str, *steps: Any, **options: Any) -> DataLoader:
        pictures = image_folder.ImageFolder(f"{self.download_directory}/{part}", image_folder.Compose(steps))
        workers = self.context.get_hparam("workers")
        return DataLoader(pictures, self.context.get_per_slot_batch_size(), num_workers=workers, **options)

    def _looked_at(self, batch: TorchData) -> tuple[Any, Any, Any]:
        images, labels = batch
        output = self.model(images)
        first, fifth = accuracy(output, labels, topk=(1, 5))
        return torch.nn.functional.cross_entropy(output, labels), first[0], fifth[0]


def accuracy(output: torch.Tensor, target: torch.Tensor, topk: tuple[int, ...]) -> list[torch.Tensor]:
    """In percent, each in a tensor of one element."""
    right = output.topk(max(topk), dim=1).indices == target[:, None]
    return [right[:, :k].any(dim=1).float().mean().mul(100).reshape(1) for k in topk]
