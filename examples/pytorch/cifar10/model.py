"""The network: three blocks of convolution and batch norm, each twice as wide and half as large as the one before."""

from data import CLASSES
from torch import nn


def build_model(width: int) -> nn.Module:
    blocks = [_block(3, width), _block(width, 2 * width), _block(2 * width, 4 * width)]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, CLASSES))


def _block(inputs: int, outputs: int) -> nn.Module:
    convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2))
