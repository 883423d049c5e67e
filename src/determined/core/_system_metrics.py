"""Sample of this machine. Rates are per second since the sample before; memory is in bytes, utilisation in %."""

import shutil
import subprocess
import time
from collections.abc import Callable

import psutil

from determined._json import JsonObject
from determined.rundir.container import SHARED_FS

_NVIDIA_SMI = "nvidia-smi"
_QUERY = ("--query-gpu=uuid,utilization.gpu,memory.free", "--format=csv,noheader,nounits")
_MIB = 1024 * 1024


class Machine:
    """Remembers the counters of the last sample, from which rates are made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._has_nvidia = shutil.which(_NVIDIA_SMI) is not None
        psutil.cpu_percent()
        self._before = self._counters()

    def sample(self) -> JsonObject:
        """Metric group -> values. A group the machine has nothing for is empty."""
        now = self._counters()
        seconds = max(now["time"] - self._before["time"], 1e-6)
        rate = {name: (now[name] - self._before[name]) / seconds for name in now}
        self._before = now
        return {
            "gpu": self._gpus(),
            "cpu": {"cpu_util_simple": psutil.cpu_percent()},
            "memory": {"memory_free": float(psutil.virtual_memory().available)},
            "disk": {
                "disk_iops": rate["operations"],
                "disk_throughput_read": rate["read"],
                "disk_throughput_write": rate["written"],
                **_disk_usage(),
            },
            "network": {"net_throughput_sent": rate["sent"], "net_throughput_recv": rate["received"]},
        }

    def _counters(self) -> dict[str, float]:
        disk, network = psutil.disk_io_counters(), psutil.net_io_counters()
        return {
            "time": self._clock(),
            "operations": float(disk.read_count + disk.write_count) if disk else 0.0,
            "read": float(disk.read_bytes) if disk else 0.0,
            "written": float(disk.write_bytes) if disk else 0.0,
            "sent": float(network.bytes_sent),
            "received": float(network.bytes_recv),
        }

    def _gpus(self) -> dict[str, dict[str, float]]:
        if not self._has_nvidia:
            return {}
        try:
            listed = subprocess.run(
                (_NVIDIA_SMI, *_QUERY), capture_output=True, text=True, timeout=10, check=True
            ).stdout
        except (OSError, subprocess.SubprocessError):
            self._has_nvidia = False  # no driver behind the program: do not pay for asking again
            return {}
        return parse_gpus(listed)


def parse_gpus(listed: str) -> dict[str, dict[str, float]]:
    """uuid -> utilisation and free memory, from nvidia-smi's CSV; what a card does not tell is left out."""
    gpus = {}
    for line in listed.splitlines():
        uuid, *numbers = (word.strip() for word in line.split(","))
        if len(numbers) == 2 and all(number.replace(".", "", 1).isdigit() for number in numbers):
            gpus[uuid] = {"gpu_util": float(numbers[0]), "gpu_free_memory": float(numbers[1]) * _MIB}
    return gpus


def _disk_usage() -> dict[str, dict[str, float]]:
    usage = {}
    for path in ("/", SHARED_FS):
        try:
            usage[path] = {"disk_util": psutil.disk_usage(path).percent}
        except OSError:
            continue
    return usage
