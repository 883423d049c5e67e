"""PyTorch itself; its examples have tests of their own, so little of it is in the fast part."""

from rows import Row

ROWS = [
    Row(
        framework="PyTorch",
        version="2.13",
        python="current",
        generation="PyTorchTrial",
        example="pytorch/mnist",
        config="const.yaml",
        search="adaptive.yaml",
        distributed="distributed.yaml",
        fast=(),
    ),
    Row(
        framework="PyTorch",
        version="2.13",
        python="current",
        generation="Trainer",
        example="pytorch/mnist",
        config="const_late.yaml",
        search="adaptive_late.yaml",
        distributed="distributed_late.yaml",
        script="train.py",
        fast=("train",),
    ),
]
