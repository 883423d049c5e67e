"""DeepSpeed training: `DeepSpeedTrial` by entrypoint or by a script with `deepspeed.init` and `Trainer`."""

from determined._imports import load_optional

load_optional("deepspeed", extra="deepspeed")  # before our own modules, which import it plainly

from determined.pytorch.deepspeed._context import DeepSpeedTrialContext  # noqa: E402
from determined.pytorch.deepspeed._controller import DeepSpeedTrialController  # noqa: E402
from determined.pytorch.deepspeed._mpu import (  # noqa: E402
    ModelParallelUnit,
    make_data_parallel_mpu,
    make_deepspeed_mpu,
)
from determined.pytorch.deepspeed._trainer import Trainer, init  # noqa: E402
from determined.pytorch.deepspeed._trial import DeepSpeedTrial  # noqa: E402
from determined.pytorch.dsat import overwrite_deepspeed_config  # noqa: E402

__all__ = [
    "DeepSpeedTrial",
    "DeepSpeedTrialContext",
    "DeepSpeedTrialController",
    "ModelParallelUnit",
    "Trainer",
    "init",
    "make_data_parallel_mpu",
    "make_deepspeed_mpu",
    "overwrite_deepspeed_config",
]
