"""The ports of a trial's processes: free ones from fixed bases on, unique among everything that runs.

Masters know nothing of each other, and several may run tasks on one machine (each user has one): they begin to count at
different places, and leave out what somebody listens on already.
"""

import errno
import socket
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import chain

# Several ranges overlap on purpose (they are upstream's); uniqueness comes from the shared set of taken ports.
BASES = {
    "DTRAIN_SSH_PORT": 12350,
    "INTER_TRAIN_PROCESS_COMM_PORT_1": 12360,
    "INTER_TRAIN_PROCESS_COMM_PORT_2": 12365,
    "C10D_PORT": 29400,
}
_SPAN = 3360  # from the highest base to where the kernel's own choice for clients begins (32768)
_STRIDE = 16


def is_free(port: int) -> bool:
    """Return whether nobody listens on it on this machine; what cannot be found out is taken for free."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that have ended do not count
        try:
            probe.bind(("", port))
        except OSError as e:
            return e.errno != errno.EADDRINUSE
    return True


@dataclass(frozen=True, slots=True)
class PortChoice:
    """Port choice of one master. `reserved`: ports that its config forbids."""

    reserved: frozenset[int] = frozenset()
    offset: int = 0
    is_free: Callable[[int], bool] = is_free

    @classmethod
    def of(cls, cluster_id: str, reserved: Collection[int]) -> "PortChoice":
        return cls(frozenset(reserved), zlib.crc32(cluster_id.encode()) * _STRIDE % _SPAN)

    def choose(self, taken: Collection[int]) -> dict[str, int]:
        """Return ports for one more allocation."""
        used = self.reserved | set(taken)
        chosen: dict[str, int] = {}
        for name, base in BASES.items():
            free = (port for port in self._from(base) if port not in used and self.is_free(port))
            chosen[name] = next(free, base)
            used |= {chosen[name]}
        return chosen

    def _from(self, base: int) -> Iterator[int]:
        end = base + _SPAN
        return chain(range(base + self.offset, end), range(base, base + self.offset), range(end, 1 << 16))
