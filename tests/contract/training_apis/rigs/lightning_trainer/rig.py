"""A script with Lightning's own Trainer and the callbacks of `determined.lightning`."""

from pathlib import Path

from rigs import HERE, Rig

RIGS = [
    Rig(
        api="determined.lightning",
        name="lightning_trainer",
        directory=Path(__file__).parent,
        entrypoint="train.py",
        mistake="mistake.py",
        advice="needs a DeterminedCheckpoint beside it",
        metric="val_loss",
        packages=("torch", "torch._dynamo", "lightning.pytorch"),
        environment_name="current",
        also=(HERE / "lightning_adapter" / "module.py",),
    )
]
