"""Trial: what every trial class of every framework is derived from."""

import abc
from typing import Any

from determined.trial._context import TrialContext


class Trial(abc.ABC):
    """A model and how to train it, as a class: what `entrypoint: model_def:MyTrial` names.

    Users derive from the class of their framework, such as `determined.pytorch.PyTorchTrial`.

    Attributes:
        trial_context_class: the kind of context its constructor is called with.
    """

    trial_context_class: type[TrialContext] = TrialContext

    @abc.abstractmethod
    def __init__(self, context: Any) -> None:
        """Make everything that training needs.

        Args:
            context: a `trial_context_class`.
        """


LegacyTrial = Trial
