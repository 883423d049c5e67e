"""Small sections of an experiment config: seed, retention, profiling, batch systems, optimizations, integrations."""

from collections.abc import Iterator

from determined._json import JsonObject
from determined.schema.engine_section import EngineSection
from determined.schema.lists import ListOf
from determined.schema.node import Boolean, Integer, Number, Report, Text
from determined.schema.section import Section, field


class Reproducibility(Section):
    """Randomness."""

    experiment_seed: int = field(
        Integer(low=0, high=2**32 - 1),
        "Seeds the search and the trials. Default: taken from the clock.",
        required=False,  # written at submit
    )


class RetentionPolicy(Section):
    """Days a task's logs are kept after its end; -1 is forever, 0 until the next sweep."""

    log_retention_days: int = field(Integer(low=-1, high=32767), "Days after the end of the task; -1 is forever.")


def _window_ordered(value: JsonObject) -> Iterator[tuple[str, str]]:
    begin, end = value.get("begin_on_batch"), value.get("end_after_batch")
    if begin is not None and end is not None and begin > end:
        yield "", f"begin_on_batch must be less than end_after_batch, not {begin} > {end}"


class Profiling(Section, rules=(_window_ordered,)):
    """System metrics of a trial."""

    enabled: bool = field(Boolean(), "Switch it on.", default=False)
    begin_on_batch: int = field(Integer(low=0), "First batch.", default=0, engines=())
    end_after_batch: int | None = field(Integer(low=0), "Last batch.", default=None, engines=())
    sync_timings: bool = field(Boolean(), "Wait for the GPU at each timing.", default=True, engines=())


class Watchdog(Section):
    """Detection of trainings that hang."""

    silent_seconds: float = field(
        Number(low=0),
        "Without a sign of life for so long, every rank's stack goes into the log; 0 is never.",
        default=1800,
    )


class Pbs(EngineSection):
    """Settings of a trial's job in PBS, for which there is no engine."""

    joined = ("pbsbatch_args",)

    slots_per_node: int | None = field(Integer(low=1), "Slots of one node that a trial uses.", default=None)
    pbsbatch_args: tuple[str, ...] = field(ListOf(Text()), "More arguments of `qsub`.", default=[])


class _MixedPrecision(Text):
    def check(self, value: object, at: str, report: Report) -> None:
        if value not in self.choices:
            report.add(at, f"must be a string starting with the letter O: one of O0, O1, O2, O3, not {value!r}")


class Optimizations(Section):
    """Gradient aggregation, compression and mixed precision of the training APIs."""

    aggregation_frequency: int = field(Integer(low=1), "Batches whose gradients make one step.", default=1)
    average_aggregated_gradients: bool = field(Boolean(), "Divide their sum by their number.", default=True)
    average_training_metrics: bool = field(Boolean(), "Average training metrics over all ranks.", default=True)
    gradient_compression: bool = field(Boolean(), "Send gradients as 16-bit numbers.", default=False)
    grad_updates_size_file: str | None = field(Text(), "A file for sizes of gradients.", default=None, engines=())
    mixed_precision: str = field(
        _MixedPrecision(choices=("O0", "O1", "O2", "O3")), "Apex's level of the first releases.", default="O0"
    )
    tensor_fusion_threshold: int = field(Integer(low=0), "Megabytes that Horovod sends together.", default=64)
    tensor_fusion_cycle_time: float = field(Number(low=0), "Milliseconds that Horovod waits for more.", default=1)
    auto_tune_tensor_fusion: bool = field(Boolean(), "Let Horovod find both by itself.", default=False)


class PachydermAddress(Section):
    host: str = field(Text(), "Host name.")
    port: int = field(Integer(low=0, high=65535), "Port.")


class PachydermProxy(Section):
    scheme: str = field(Text(), "`http` or `https`.")
    host: str = field(Text(), "Host name.")
    port: int = field(Integer(low=0, high=65535), "Port.")


class PachydermDataset(Section):
    project: str = field(Text(), "Name of the project.")
    repo: str = field(Text(), "Name of the repository.")
    commit: str = field(Text(), "Commit to read.")
    branch: str = field(Text(), "Branch to read.")
    token: str = field(Text(), "Access token.", secret=True)


class Pachyderm(Section):
    """The place of an experiment's data in Pachyderm."""

    pachd: PachydermAddress = field(PachydermAddress, "The Pachyderm daemon.")
    proxy: PachydermProxy = field(PachydermProxy, "The proxy before it.")
    dataset: PachydermDataset = field(PachydermDataset, "The data.")


class WebhookChoice(Section):
    """The webhooks of mode SPECIFIC that an experiment asks for ([Webhooks](../webhooks.md))."""

    webhook_id: tuple[int, ...] = field(ListOf(Integer()), "By number.", default=[])
    webhook_name: tuple[str, ...] = field(ListOf(Text()), "By name.", default=[])
    exclude: bool = field(Boolean(), "True: no webhook at all is called for this experiment.", default=False)


class Integrations(Section):
    """Other systems."""

    pachyderm: Pachyderm | None = field(
        Pachyderm,
        "Where the data comes from; shown, and returned by `Experiment.get_pachyderm_config()`.",
        default=None,
    )
    webhooks: WebhookChoice | None = field(WebhookChoice, "Which webhooks to call.", default=None)
