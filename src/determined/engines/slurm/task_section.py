"""The `slurm` section of experiments and tasks."""

from determined.schema.engine_section import EngineSection
from determined.schema.lists import ListOf
from determined.schema.node import Integer, Text
from determined.schema.section import field


class SlurmSection(EngineSection):
    """Settings of a trial's job in Slurm."""

    meaning = "Settings of the batch job."
    joined = ("sbatch_args",)

    slots_per_node: int | None = field(Integer(low=1), "Slots of one node that a trial uses.", default=None)
    gpu_type: str | None = field(Text(), "Type of GPU to ask for.", default=None)
    sbatch_args: tuple[str, ...] = field(ListOf(Text()), "More arguments of `sbatch`.", default=[])
