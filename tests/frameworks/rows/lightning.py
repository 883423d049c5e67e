"""Lightning: a module by the loop of a PyTorchTrial, and by Lightning's own Trainer."""

from rows import Row

ROWS = [
    Row(
        framework="Lightning",
        version="2.6",
        python="current",
        generation="LightningAdapter",
        example="lightning/mnist_adapter",
        script="model_def.py",
        pause_changes={"searcher": {"max_length": {"epochs": 60}}, "min_validation_period": {"epochs": 20}},
        fast=(),
    ),
    Row(
        framework="Lightning",
        version="2.6",
        python="current",
        generation="Trainer",
        example="lightning/mnist_trainer",
        distributed="distributed.yaml",
        script="train.py",
        pause_changes={"hyperparameters": {"epochs": 30}},
    ),
]
