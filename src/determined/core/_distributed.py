"""DistributedContext: who this process is among its peers, and the few collectives Core API needs."""

import contextlib
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from determined._imports import load_optional
from determined._json import JsonObject
from determined.core import _environment
from determined.errors import InvalidHP

if TYPE_CHECKING:
    import tensorflow as tf

    from determined.core._rank_link import Hub, LinkFailure, Spoke

T = TypeVar("T")

_DEFAULT_PORTS = (12360, 12376)
_REASON_CHARACTERS = 300


class DistributedContext:
    """Ranks of one training job. Constructing one waits until every rank has.

    Args:
        rank: this process among all, 0 is the chief.
        size: number of processes.
        local_rank: this process on its node.
        local_size: number of processes on this node.
        cross_rank: this node among all nodes.
        cross_size: number of nodes.
        chief_ip: where the chief is reached; needed when there is more than one node.
        pub_port: the chief's port; all ranks must name the same. Free again once all have come.
        pull_port: accepted for older scripts; one port is enough.
        port_offset: accepted for older scripts and unused.
        force_tcp: talk over TCP even among the ranks of one node, which else use a Unix socket.

    Raises:
        ValueError: some of the six numbers are given and some are None, or a rank is not below its size.
        AssertionError: several nodes and no `chief_ip`.
        RuntimeError: peers cannot be reached, or do not come, or do not know this allocation's secret. Later, from any
            collective: a rank failed or is gone (it is named, on every rank), or ranks make different calls.

    Example:
        >>> alone = DistributedContext(
        ...     rank=0, size=1, local_rank=0, local_size=1, cross_rank=0, cross_size=1)
        >>> alone.allgather("x")
        ['x']
    """

    def __init__(
        self,
        *,
        rank: int,
        size: int,
        local_rank: int,
        local_size: int,
        cross_rank: int,
        cross_size: int,
        chief_ip: str | None = None,
        pub_port: int = _DEFAULT_PORTS[0],
        pull_port: int = _DEFAULT_PORTS[1],
        port_offset: int = 0,
        force_tcp: bool = False,
    ) -> None:
        self.rank, self.size, self.local_rank, self.local_size, self.cross_rank, self.cross_size = _checked(
            rank, size, local_rank, local_size, cross_rank, cross_size
        )
        self._beat: Callable[[], None] = _nobody_watches
        self._link_failure: LinkFailure | None = None
        self._world: Hub | Spoke | None = None
        self._node: Hub | Spoke | None = None
        self._address: JsonObject = {"chief_ip": chief_ip, "pub_port": pub_port, "force_tcp": force_tcp}
        if self.size > 1:
            port = _environment.peer_ports()[0] if pub_port == _DEFAULT_PORTS[0] else pub_port
            self._connect(_chief_address(self.size, self.local_size, chief_ip), port, force_tcp)

    @classmethod
    def from_horovod(cls, hvd: ModuleType, chief_ip: str | None = None) -> "DistributedContext":
        """Make a context from an initialised `horovod.<framework>` module."""
        return cls(
            rank=hvd.rank(),
            size=hvd.size(),
            local_rank=hvd.local_rank(),
            local_size=hvd.local_size(),
            cross_rank=hvd.cross_rank(),
            cross_size=hvd.cross_size(),
            chief_ip=chief_ip or _environment.chief_ip(),
        )

    @classmethod
    def from_deepspeed(cls, chief_ip: str | None = None) -> "DistributedContext":
        """Make a context from the variables that `determined.launch.deepspeed` sets."""
        ranks = _environment.ranks(_environment.DEEPSPEED, "python3 -m determined.launch.deepspeed")
        return cls(**_fields(ranks), chief_ip=chief_ip or _environment.chief_ip())

    @classmethod
    def from_torch_distributed(cls, chief_ip: str | None = None) -> "DistributedContext":
        """Make a context from the variables that torchrun sets."""
        ranks = _environment.ranks(_environment.TORCH, "torchrun or python3 -m determined.launch.torch_distributed")
        return cls(**_fields(ranks), chief_ip=chief_ip or _environment.chief_ip())

    @classmethod
    def from_tf_config(cls) -> "tuple[DistributedContext, tf.distribute.Strategy]":
        """Make a context from TF_CONFIG, and the matching `tf.distribute.Strategy`.

        Raises:
            RuntimeError: a task type other than "worker".
        """
        tf = load_optional("tensorflow", extra="tensorflow")
        config = _environment.tf_config()
        workers = (config or {}).get("cluster", {}).get("worker", [])
        if config is None or len(workers) < 2:
            several = len(tf.config.list_physical_devices("GPU")) > 1
            strategy = tf.distribute.MirroredStrategy() if several else tf.distribute.get_strategy()
            return cls(**_ALONE), strategy
        if config["task"]["type"] != "worker":
            raise RuntimeError(f"TF_CONFIG task type {config['task']['type']!r} is not supported; use 'worker'")
        rank, size = int(config["task"]["index"]), len(workers)
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        host = str(workers[0]).rsplit(":", 1)[0]
        numbers: JsonObject = {"rank": rank, "size": size, "cross_rank": rank, "cross_size": size}
        return cls(**numbers, local_rank=0, local_size=1, chief_ip=_environment.chief_ip() or host), strategy

    def get_rank(self) -> int:
        return self.rank

    def get_local_rank(self) -> int:
        return self.local_rank

    def get_size(self) -> int:
        return self.size

    def get_num_agents(self) -> int:
        return self.cross_size

    def gather(self, stuff: T) -> list[T] | None:
        """Return every rank's value in rank order on the chief, None elsewhere."""
        self._beat()
        return [stuff] if self._world is None else self._world.gather(stuff)

    def gather_local(self, stuff: T) -> list[T] | None:
        """Gather among the ranks of this node."""
        self._beat()
        return [stuff] if self._node is None else self._node.gather(stuff)

    def allgather(self, stuff: T) -> list[T]:
        """Return every rank's value in rank order, on every rank."""
        self._beat()
        return [stuff] if self._world is None else self._world.allgather(stuff)

    def allgather_local(self, stuff: T) -> list[T]:
        """Gather on every rank, among the ranks of this node."""
        self._beat()
        return [stuff] if self._node is None else self._node.allgather(stuff)

    def broadcast(self, stuff: Any) -> Any:
        """The chief's value, everywhere."""
        self._beat()
        return stuff if self._world is None else self._world.broadcast(stuff)

    def broadcast_local(self, stuff: Any = None) -> Any:
        """The value of this node's local rank 0, everywhere on the node."""
        self._beat()
        return stuff if self._node is None else self._node.broadcast(stuff)

    def close(self) -> None:
        """Leave. Peers that still wait for this rank are told why, if it leaves because of a failure."""
        for link in (self._world, self._node):
            if link is not None:
                link.close()
        if self._link_failure is not None:
            self._link_failure.seal("this DistributedContext is closed; make no calls after close()")

    def __enter__(self) -> "DistributedContext":
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        if self._link_failure is not None and exc_val is not None and is_failure(exc_val):
            self._link_failure.seal(self._described(exc_val, ""), is_invalid=isinstance(exc_val, InvalidHP))
        self.close()

    def _agree(self, error: BaseException | None, doing: str) -> bool:
        """Collective, at the end of a block that every rank leaves well, or none does.

        Args:
            error: what this rank leaves it with.
            doing: what they do in there, e.g. " while saving".

        Returns:
            Whether nobody is in there any more, or only ranks that have been told to leave.

        Raises:
            RuntimeError: another rank has failed, or ranks can no longer talk.
            InvalidHP: another rank has left with this.
        """
        self._beat()
        if self._world is None:
            return True
        from determined.core._rank_link import FailureCause, UnreportedFailure

        is_invalid = isinstance(error, InvalidHP)
        mine = None if error is None else FailureCause(self._described(error, doing), is_invalid=is_invalid)
        try:
            cause = self._world.agree(mine)
        except UnreportedFailure:
            if self._node is not None:
                self._node.tell()
            return False
        if mine is None and cause is not None:
            raise cause.error
        return True

    def _connected_again(self) -> "DistributedContext":
        """Connect the same ranks once more, at the port that was free again, for exchanges of another thread.

        Collective: all ranks must call it. A process alone needs no connection, and gets this context.
        """
        if self.size == 1:
            return self
        return DistributedContext(**{name: getattr(self, name) for name in _ALONE}, **self._address)

    def _described(self, error: BaseException, doing: str) -> str:
        words = str(error).partition("\n")[0][:_REASON_CHARACTERS]
        what = "" if isinstance(error, InvalidHP) else f" failed{doing}: {type(error).__name__}"
        return f"rank {self.rank}{what}: {words}"

    def _connect(self, host: str | None, port: int, force_tcp: bool) -> None:
        # Here, because a process without peers, which most are, would wait for what it never needs.
        from determined.core import _rank_start
        from determined.core._rank_link import LinkFailure

        link_failure, secret = LinkFailure(), _rank_start.secret()
        self._link_failure = link_failure
        where = _rank_start.place("world", host, port, secret, force_tcp=force_tcp)
        if self.rank == 0:
            self._world = _rank_start.hub(_rank_start.listen(where), where, range(self.size), secret, link_failure)
        else:
            self._world = _rank_start.spoke(where, self.rank, 0, secret, link_failure)
        try:
            self._node = self._connect_node(port, secret, force_tcp)
        except BaseException:
            self.close()
            raise

    def _connect_node(self, port: int, secret: bytes, force_tcp: bool) -> "Hub | Spoke | None":
        """A link of this node's own, unless it would be the same one or have nobody on it. Until then all wait."""
        from determined.core import _rank_start

        assert self._world is not None and self._link_failure is not None
        where = _rank_start.place(f"node {self.cross_rank}", None, port, secret, force_tcp=force_tcp)
        is_hub = self.local_rank == 0 and 1 < self.local_size < self.size
        if is_hub and where.path is None:
            where = _rank_start.Place(where.label)  # of TCP's ports any will do, for it is told to all
        with contextlib.ExitStack() as unless_used:
            listener = unless_used.enter_context(_rank_start.listen(where)) if is_hub else None
            bound = listener.getsockname()[1] if listener and where.path is None else port
            everybody = self._world.allgather((self.cross_rank, self.local_rank, bound))
            if self.local_size == self.size:
                return self._world
            here = {local: (rank, at) for rank, (cross, local, at) in enumerate(everybody) if cross == self.cross_rank}
            self._check_node(sorted(here))
            ranks = [here[local][0] for local in range(self.local_size)]
            if listener is not None:
                unless_used.pop_all()
                return _rank_start.hub(listener, where, ranks, secret, self._link_failure)
        if self.local_size < 2:
            return None
        if where.path is None:
            where = _rank_start.Place(where.label, port=here[0][1])
        return _rank_start.spoke(where, self.local_rank, ranks[0], secret, self._link_failure)

    def _check_node(self, locals_found: list[int]) -> None:
        if locals_found != list(range(self.local_size)):
            raise RuntimeError(
                f"node {self.cross_rank} has local ranks {locals_found} and rank {self.rank} was told "
                f"local_size={self.local_size}; give every rank its node's own numbers"
            )


def is_failure(error: BaseException) -> bool:
    if isinstance(error, SystemExit):
        return error.code not in (None, 0)
    return isinstance(error, Exception)


def _nobody_watches() -> None:
    """Replaced by core.init on a cluster, where the runner looks for signs of life of every rank."""


_ALONE: JsonObject = {"rank": 0, "size": 1, "local_rank": 0, "local_size": 1, "cross_rank": 0, "cross_size": 1}


def _checked(*numbers: int | None) -> tuple[int, ...]:
    """The six numbers, or those of a process alone when none is given."""
    given = tuple(number for number in numbers if number is not None)
    if given and len(given) < len(numbers):
        raise ValueError(f"rank, size, local_*, cross_* must be given together, got {numbers}")
    names = list(_ALONE)
    for at in range(0, len(given), 2):
        if not 0 <= given[at] < given[at + 1]:
            raise ValueError(f"{names[at]}={given[at]} is not below {names[at + 1]}={given[at + 1]}; count from 0")
    return given or tuple(_ALONE.values())


def _fields(ranks: _environment.Ranks) -> JsonObject:
    return {name: getattr(ranks, name) for name in _ALONE}


def _chief_address(size: int, local_size: int, chief_ip: str | None) -> str | None:
    """Return the chief's address; None: on this node."""
    if local_size == size:
        return None
    if chief_ip is None:
        raise AssertionError(f"size={size} spans several nodes (local_size={local_size}); pass chief_ip")
    return chief_ip
