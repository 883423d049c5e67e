"""A LightningModule in a LightningAdapter, by its entrypoint."""

from pathlib import Path

from rigs import Rig

RIGS = [
    Rig(
        api="determined.pytorch.lightning",
        name="lightning_adapter",
        directory=Path(__file__).parent,
        entrypoint="model_def:Trial",
        mistake="mistake:ManualTrial",
        advice="automatic_optimization = False",
        metric="val_loss",
        packages=("torch", "torch._dynamo", "lightning.pytorch"),
        environment_name="current",
    )
]
