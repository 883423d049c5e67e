import torch
from torch import nn

from determined import pytorch


class EpochCounter(pytorch.PyTorchCallback):
    def __init__(self):
        self.epochs = 0

    def on_training_epoch_end(self, epoch_idx):
        self.epochs += 1

    def state_dict(self):
        return {"epochs": self.epochs}

    def load_state_dict(self, state):
        self.epochs = state["epochs"]


class TinyTrial(pytorch.PyTorchTrial):
    def __init__(self, context):
        self.context = context
        self.counter = EpochCounter()
        layers = nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Linear(3, 2)
        self.model = context.wrap_model(nn.Sequential(*layers))
        optimizer = torch.optim.Adam(self.model.parameters(), lr=context.get_hparam("lr"))
        self.optimizer = context.wrap_optimizer(optimizer)
        self.scheduler = context.wrap_lr_scheduler(
            torch.optim.lr_scheduler.StepLR(self.optimizer, 2, gamma=0.5),
            step_mode=pytorch.LRScheduler.StepMode.STEP_EVERY_BATCH,
        )

    def build_callbacks(self):
        return {"counter": self.counter}

    def build_training_data_loader(self):
        generator = torch.Generator().manual_seed(0)
        x, y = torch.randn(16, 4, generator=generator), torch.randint(0, 2, (16,), generator=generator)
        return pytorch.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=4)

    def build_validation_data_loader(self):
        return self.build_training_data_loader()

    def train_batch(self, batch, epoch_idx, batch_idx):
        x, y = batch
        loss = nn.functional.cross_entropy(self.model(x), y)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch):
        x, y = batch
        return {"validation_loss": nn.functional.cross_entropy(self.model(x), y)}
