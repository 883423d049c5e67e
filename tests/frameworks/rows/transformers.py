"""`transformers.DetCallback` in a plain Trainer: alone, replicated on several slots, and sharded over them."""

from rows import Row

_LONGER = {"hyperparameters": {"epochs": 20}}
_OFFLINE = {"HF_HUB_OFFLINE": "1"}

ROWS = [
    Row(
        framework="Transformers",
        version="5.22",
        python="current",
        generation="DetCallback",
        example="transformers/text_classification",
        script="train.py",
        pause_changes=_LONGER,
        environment=_OFFLINE,
    ),
    Row(
        framework="Transformers",
        version="5.22",
        python="current",
        generation="DetCallback, sharded by FSDP",
        example="transformers/text_classification",
        config="fsdp.yaml",
        search="classic_search.yaml",  # by operations
        off_cluster="as DetCallback",
        pause_changes=_LONGER,
        fast=(),
        environment=_OFFLINE,
    ),
]
