"""Small sections of an experiment config: seed, retention, profiling, batch systems, optimizations, integrations."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from determined.config.node import Boolean, Integer, ListOf, Node, Number, Report, Text
from determined.config.objects import Field, Object


@dataclass(frozen=True, slots=True)
class Reproducibility:
    experiment_seed: int


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """Days a task's logs are kept after its end; -1 is forever, 0 until the next sweep."""

    log_retention_days: int


@dataclass(frozen=True, slots=True)
class Profiling:
    enabled: bool = False
    begin_on_batch: int = 0
    end_after_batch: int | None = None
    sync_timings: bool = True


@dataclass(frozen=True, slots=True)
class Watchdog:
    """After how many seconds without a sign of life every rank's stack goes into the log; 0 is never."""

    silent_seconds: float = 1800


@dataclass(frozen=True, slots=True)
class Slurm:
    slots_per_node: int | None = None
    gpu_type: str | None = None
    sbatch_args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pbs:
    slots_per_node: int | None = None
    pbsbatch_args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Optimizations:
    aggregation_frequency: int = 1
    average_aggregated_gradients: bool = True
    average_training_metrics: bool = True
    gradient_compression: bool = False
    grad_updates_size_file: str | None = None
    mixed_precision: str = "O0"
    tensor_fusion_threshold: int = 64
    tensor_fusion_cycle_time: float = 1
    auto_tune_tensor_fusion: bool = False


@dataclass(frozen=True, slots=True)
class WebhookChoice:
    """Which webhooks an experiment asks for; `exclude` silences all."""

    webhook_id: tuple[int, ...] = ()
    webhook_name: tuple[str, ...] = ()
    exclude: bool = False


@dataclass(frozen=True, slots=True)
class Integrations:
    pachyderm: dict[str, Any] | None = field(default=None, repr=False)
    webhooks: WebhookChoice | None = None


def parse_slurm(raw: dict[str, Any]) -> Slurm:
    return Slurm(raw["slots_per_node"], raw["gpu_type"], tuple(raw["sbatch_args"]))


def parse_pbs(raw: dict[str, Any]) -> Pbs:
    return Pbs(raw["slots_per_node"], tuple(raw["pbsbatch_args"]))


def parse_integrations(raw: dict[str, Any] | None) -> Integrations | None:
    if raw is None:
        return None
    hooks = raw.get("webhooks")
    return Integrations(
        pachyderm=raw.get("pachyderm"),
        webhooks=WebhookChoice(tuple(hooks["webhook_id"]), tuple(hooks["webhook_name"]), hooks["exclude"])
        if hooks is not None
        else None,
    )


class _MixedPrecision(Node):
    def check(self, value: Any, at: str, report: Report) -> None:
        if value not in ("O0", "O1", "O2", "O3"):
            report.add(at, f"must be a string starting with the letter O: one of O0, O1, O2, O3, not {value!r}")


def _window_ordered(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    begin, end = value.get("begin_on_batch"), value.get("end_after_batch")
    if begin is not None and end is not None and begin > end:
        yield "", f"begin_on_batch must be less than end_after_batch, not {begin} > {end}"


def _all_required(*names: str) -> Object:
    return Object({name: Field(Text(), required=True) for name in names})


REPRODUCIBILITY = Object({"experiment_seed": Field(Integer(low=0, high=2**32 - 1))})
RETENTION_POLICY = Object({"log_retention_days": Field(Integer(low=-1, high=32767), required=True)})
PROFILING = Object(
    {
        "enabled": Field(Boolean(), default=False),
        "begin_on_batch": Field(Integer(low=0), default=0, honoured_by=()),
        "end_after_batch": Field(Integer(low=0), default=None, honoured_by=()),
        "sync_timings": Field(Boolean(), default=True, honoured_by=()),
    },
    rules=(_window_ordered,),
)
WATCHDOG = Object({"silent_seconds": Field(Number(low=0), default=1800)})
SLURM = Object(
    {
        "slots_per_node": Field(Integer(low=1), default=None),
        "gpu_type": Field(Text(), default=None),
        "sbatch_args": Field(ListOf(Text()), default=[]),
    }
)
PBS = Object(
    {
        "slots_per_node": Field(Integer(low=1), default=None),
        "pbsbatch_args": Field(ListOf(Text()), default=[]),
    }
)
OPTIMIZATIONS = Object(
    {
        "aggregation_frequency": Field(Integer(low=1), default=1),
        "average_aggregated_gradients": Field(Boolean(), default=True),
        "average_training_metrics": Field(Boolean(), default=True),
        "gradient_compression": Field(Boolean(), default=False),
        "grad_updates_size_file": Field(Text(), default=None, honoured_by=()),
        "mixed_precision": Field(_MixedPrecision(), default="O0"),
        "tensor_fusion_threshold": Field(Integer(low=0), default=64),
        "tensor_fusion_cycle_time": Field(Number(low=0), default=1),
        "auto_tune_tensor_fusion": Field(Boolean(), default=False),
    }
)
_PACHD = Object({"host": Field(Text(), required=True), "port": Field(Integer(low=0, high=65535), required=True)})
_PROXY = Object({"scheme": Field(Text(), required=True), **_PACHD.fields})
INTEGRATIONS = Object(
    {
        "pachyderm": Field(
            Object(
                {
                    "pachd": Field(_PACHD, required=True),
                    "proxy": Field(_PROXY, required=True),
                    "dataset": Field(_all_required("project", "repo", "commit", "branch", "token"), required=True),
                }
            ),
            default=None,
        ),
        "webhooks": Field(
            Object(
                {
                    "webhook_id": Field(ListOf(Integer()), default=[]),
                    "webhook_name": Field(ListOf(Text()), default=[]),
                    "exclude": Field(Boolean(), default=False),
                }
            ),
            default=None,
            honoured_by=(),
        ),
    }
)
