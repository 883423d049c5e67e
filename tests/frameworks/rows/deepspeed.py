"""DeepSpeed on the CPU: a trial class with ZeRO 3, and a script's pipeline."""

from rows import Row

_CPU = {"DS_ACCELERATOR": "cpu"}

ROWS = [
    Row(
        framework="DeepSpeed",
        version="0.19",
        python="current",
        generation="DeepSpeedTrial",
        example="deepspeed/zero",
        script="model_def.py",
        pause_changes={"searcher": {"max_length": {"batches": 400}}},
        environment=_CPU,
    ),
    Row(
        framework="DeepSpeed",
        version="0.19",
        python="current",
        generation="Trainer",
        example="deepspeed/pipeline",
        script="train.py",
        pause_changes={"hyperparameters": {"batches": 400}},
        fast=(),
        environment=_CPU,
    ),
]
