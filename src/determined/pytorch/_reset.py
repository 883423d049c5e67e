"""`reset_parameters`: for code written for releases up to 0.20."""

from torch import nn


def reset_parameters(model: nn.Module) -> None:
    """Initialise anew every module of `model` that knows how to.

    Example:
        >>> reset_parameters(torch.nn.Linear(2, 1))
    """
    for module in model.modules():
        reset: object = getattr(module, "reset_parameters", None)
        if callable(reset):
            reset()
