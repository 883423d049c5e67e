"""A script with Hugging Face's Trainer and a DetCallback."""

from pathlib import Path

from rigs import Rig

RIGS = [
    Rig(
        api="determined.transformers",
        name="transformers_callback",
        directory=Path(__file__).parent,
        entrypoint="train.py",
        mistake="mistake.py",
        advice="eval_strategy",
        metric="eval_loss",
        packages=("torch", "torch._dynamo", "transformers", "accelerate"),
        environment_name="current",
    )
]
