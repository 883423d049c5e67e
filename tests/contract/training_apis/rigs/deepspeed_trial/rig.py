"""A DeepSpeedTrial by its entrypoint, on the CPU."""

from pathlib import Path

from rigs import Rig

RIGS = [
    Rig(
        api="determined.pytorch.deepspeed",
        name="deepspeed_trial",
        directory=Path(__file__).parent,
        entrypoint="model_def:Trial",
        mistake="mistake:WithoutEngine",
        advice="wrapped no engine",
        metric="validation_loss",
        packages=("torch", "torch._dynamo", "deepspeed"),
        environment_name="current",
        environment={"DS_ACCELERATOR": "cpu"},
    )
]
