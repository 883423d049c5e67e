"""ProfilerContext: samples of the machine (processors, memory, disks, network, accelerators) as metric groups."""

import logging
import threading

from determined._json import JsonObject
from determined.core._distributed import DistributedContext
from determined.core._metrics import MetricsContext

logger = logging.getLogger("determined.core")


class ProfilerContext:
    """Off until `on` is called."""

    def __init__(self, agent_id: str, metrics: MetricsContext, distributed: DistributedContext) -> None:
        self._agent_id = agent_id
        self._metrics = metrics
        self._distributed = distributed
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def on(self, sampling_interval: float = 1, samples_per_report: int = 10) -> None:
        """Sample every `sampling_interval` seconds; report the average of each `samples_per_report` samples.

        Raises:
            ValueError: an interval below 0.1 s, or a number of samples that is not an int of at least 1.
        """
        check_sampling(sampling_interval, samples_per_report)
        if self._thread is not None or self._distributed.local_rank != 0:
            return
        self._stop.clear()
        self._thread = threading.Thread(
            target=self._run,
            args=(float(sampling_interval), samples_per_report),
            name="determined-profiler",
            daemon=True,
        )
        self._thread.start()

    def off(self) -> None:
        """Stop sampling; what was not reported yet is dropped."""
        if self._thread is None:
            return
        self._stop.set()
        self._thread.join()
        self._thread = None

    def _close(self) -> None:
        self.off()

    def _run(self, interval: float, samples_per_report: int) -> None:
        from determined.core._system_metrics import Machine  # loads psutil, which most scripts never need

        try:
            machine = Machine()
            samples: list[JsonObject] = []
            while not self._stop.wait(interval):
                samples.append(machine.sample())
                if len(samples) == samples_per_report:
                    self._report(average(samples))
                    samples = []
        except Exception:  # edge of this thread: training goes on without a profile, and the log says so
            logger.exception("the profiler stopped")

    def _report(self, sample: JsonObject) -> None:
        for group, values in sample.items():
            if values:
                self._metrics.report(group, None, {self._agent_id: values})


def check_sampling(sampling_interval: float, samples_per_report: int) -> None:
    if not isinstance(sampling_interval, int | float) or not sampling_interval >= 0.1:
        raise ValueError(f"sampling_interval={sampling_interval!r} is not a number of at least 0.1 seconds")
    if isinstance(samples_per_report, bool) or not isinstance(samples_per_report, int) or samples_per_report < 1:
        raise ValueError(f"samples_per_report={samples_per_report!r} is not an int of at least 1")


def average(samples: list[JsonObject]) -> JsonObject:
    """The mean of each leaf over the samples that have it."""
    names = {name: None for sample in samples for name in sample}
    result: JsonObject = {}
    for name in names:
        values = [sample[name] for sample in samples if name in sample]
        if isinstance(values[0], dict):
            result[name] = average(values)
        else:
            result[name] = sum(values) / len(values)
    return result
