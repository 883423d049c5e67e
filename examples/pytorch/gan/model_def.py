"""A generative adversarial network: two models, two optimizers and two schedulers in one trial."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader as TorchDataLoader
from torch.utils.data import TensorDataset

from determined import pytorch

NOISE = 4


def points(number: int, seed: int) -> Tensor:
    """Make what is to be imitated: points around a circle, in eight heaps."""
    generator = torch.Generator().manual_seed(seed)
    angle = torch.randint(8, (number,), generator=generator) * (math.pi / 4)
    heaps = torch.stack([angle.cos(), angle.sin()], dim=1)
    return heaps + 0.05 * torch.randn(number, 2, generator=generator)


def build_generator(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(NOISE, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))


def build_discriminator(width: int) -> nn.Module:
    layers = [nn.Linear(2, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Linear(width, 1), nn.Flatten(0))


class GANTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        width = context.get_hparam("width")
        self.generator = context.wrap_model(build_generator(width))
        self.discriminator = context.wrap_model(build_discriminator(width))
        self.generator_optimizer = self._optimizer(self.generator, context.get_hparam("generator_lr"))
        self.discriminator_optimizer = self._optimizer(self.discriminator, context.get_hparam("discriminator_lr"))
        steps = pytorch.LRScheduler.StepMode
        self.generator_schedule = context.wrap_lr_scheduler(
            torch.optim.lr_scheduler.ExponentialLR(self.generator_optimizer, gamma=0.95), steps.STEP_EVERY_EPOCH
        )
        self.discriminator_schedule = context.wrap_lr_scheduler(
            torch.optim.lr_scheduler.LinearLR(self.discriminator_optimizer, 1.0, 0.5, total_iters=100),
            steps.STEP_EVERY_BATCH,
            frequency=4,
        )

    def _optimizer(self, model: nn.Module, lr: float) -> torch.optim.Optimizer:
        # Without momentum: the two would swing around each other.
        return self.context.wrap_optimizer(torch.optim.Adam(model.parameters(), lr=lr, betas=(0.0, 0.99)))

    def build_training_data_loader(self) -> pytorch.DataLoader:
        data = TensorDataset(points(self.context.get_data_config()["points"], seed=1))
        return pytorch.DataLoader(data, batch_size=self.context.get_per_slot_batch_size(), shuffle=True, drop_last=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(TensorDataset(points(512, seed=2)), batch_size=128)

    def train_batch(self, batch: pytorch.TorchData, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        (real,) = batch
        made = self.generator(torch.randn(len(real), NOISE, device=self.context.device))
        discriminator_loss = self._train_discriminator(real, made.detach())
        generator_loss = self._train_generator(made)
        return {
            "discriminator_loss": discriminator_loss,
            "generator_loss": generator_loss,
            "generator_lr": self.generator_schedule.get_last_lr()[0],
            "discriminator_lr": self.discriminator_schedule.get_last_lr()[0],
        }

    def _train_discriminator(self, real: Tensor, made: Tensor) -> Tensor:
        # The generator's loss went through this model as well, and left gradients in it that are not its own.
        self.discriminator_optimizer.zero_grad()
        loss = self._loss(torch.cat([real, made]), torch.cat([torch.ones(len(real)), torch.zeros(len(made))]))
        self.context.backward(loss)
        self.context.step_optimizer(self.discriminator_optimizer)
        return loss

    def _train_generator(self, made: Tensor) -> Tensor:
        loss = self._loss(made, torch.ones(len(made)))
        self.context.backward(loss)
        self.context.step_optimizer(self.generator_optimizer)
        return loss

    def _loss(self, some: Tensor, is_real: Tensor) -> Tensor:
        wanted = is_real.to(some.device)
        return functional.binary_cross_entropy_with_logits(self.discriminator(some), wanted)

    def evaluate_full_dataset(self, data_loader: TorchDataLoader[Any]) -> dict[str, Any]:
        """On the chief alone: how far the made points are from the real ones, as two clouds."""
        real = torch.cat([self.context.to_device(some) for (some,) in data_loader])
        noise = torch.randn(len(real), NOISE, generator=torch.Generator().manual_seed(3))
        return {"energy_distance": energy_distance(real, self.generator(self.context.to_device(noise)))}


def energy_distance(some: Tensor, others: Tensor) -> Tensor:
    """Between two clouds of points: 0 for equal distributions."""
    return 2 * torch.cdist(some, others).mean() - torch.cdist(some, some).mean() - torch.cdist(others, others).mean()
