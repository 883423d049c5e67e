"""A PyTorchTrial by its entrypoint."""

from pathlib import Path

from rigs import Rig

RIGS = [
    Rig(
        api="determined.pytorch",
        name="pytorch_trial",
        directory=Path(__file__).parent,
        entrypoint="model_def:Trial",
        mistake="mistake:WithoutOptimizer",
        advice="wrap_optimizer",
        metric="validation_loss",
        packages=("torch", "torch._dynamo"),
    )
]
