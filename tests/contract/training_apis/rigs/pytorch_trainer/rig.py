"""The trial of `pytorch_trial` in a script with `pytorch.init` and `Trainer`."""

from pathlib import Path

from rigs import HERE, Rig

RIGS = [
    Rig(
        api="determined.pytorch",
        name="pytorch_trainer",
        directory=Path(__file__).parent,
        entrypoint="train.py",
        mistake="mistake.py",
        advice="validation_period",
        metric="validation_loss",
        packages=("torch", "torch._dynamo"),
        also=(HERE / "pytorch_trial" / "model_def.py",),
    )
]
