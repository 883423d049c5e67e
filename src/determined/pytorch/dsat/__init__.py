"""DeepSpeed Autotune's helpers for scripts (0.23 to 0.37). Its search itself is not implemented; see `__main__`."""

from typing import Any

from determined.pytorch.dsat._arguments import get_hf_args_with_overwrites
from determined.pytorch.dsat._config import get_ds_config_from_hparams, overwrite_deepspeed_config
from determined.pytorch.dsat._reporting import dsat_reporting_context

__all__ = [
    "dsat_reporting_context",
    "get_ds_config_from_hparams",
    "get_hf_args_with_overwrites",
    "overwrite_deepspeed_config",
]

NOT_IMPLEMENTED = (
    "DeepSpeed Autotune's search is not implemented; search DeepSpeed's settings as hyperparameters: write ranges "
    "under hyperparameters.overwrite_deepspeed_args (such as train_micro_batch_size_per_gpu) and choose a searcher"
)


def __getattr__(name: str) -> Any:
    if "DSAT" in name:  # the classes of its search methods
        raise ImportError(f"determined.pytorch.dsat.{name}: {NOT_IMPLEMENTED}", name=f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
