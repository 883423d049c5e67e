"""ModelParallelUnit: this rank's place where a model is spread over several ranks, and what follows for data and
metrics."""

from dataclasses import dataclass
from typing import Any

from determined import core


@dataclass(frozen=True, slots=True)
class ModelParallelUnit:
    """Ranks that hold parts of one copy of the model see the same data; each copy has a data parallel rank.

    Attributes:
        data_parallel_rank: which copy of the model this rank is part of, and so which share of the data it sees.
        data_parallel_world_size: number of copies.
        should_report_metrics: whether `train_batch` and `evaluate_batch` return metrics here.
        should_build_data_loader: whether this rank loads data; others get None in place of an iterator.
    """

    data_parallel_rank: int
    data_parallel_world_size: int
    should_report_metrics: bool
    should_build_data_loader: bool


def make_data_parallel_mpu(dist_context: core.DistributedContext) -> ModelParallelUnit:
    """Make a unit where every rank has a copy of the whole model, or its ZeRO share of one, and data of its own.

    Args:
        dist_context: the ranks.
    """
    return ModelParallelUnit(
        data_parallel_rank=dist_context.rank,
        data_parallel_world_size=dist_context.size,
        should_report_metrics=True,
        should_build_data_loader=True,
    )


def make_deepspeed_mpu(topology: Any) -> ModelParallelUnit:
    """Describe the ranks as DeepSpeed has divided them for its pipeline: the first and last stage load data.

    Args:
        topology: a `PipelineParallelGrid`, which a pipeline engine has as its `mpu`.
    """
    stage = topology.get_pipe_parallel_rank()
    is_at_an_end = stage in (0, topology.get_pipe_parallel_world_size() - 1)
    return ModelParallelUnit(
        data_parallel_rank=topology.get_data_parallel_rank(),
        data_parallel_world_size=topology.get_data_parallel_world_size(),
        should_report_metrics=True,
        should_build_data_loader=is_at_an_end and topology.get_slice_parallel_rank() == 0,
    )
