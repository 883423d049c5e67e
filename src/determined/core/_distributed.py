"""DistributedContext: who this process is among its peers, and the few collectives Core API needs."""

from typing import TYPE_CHECKING, Any

from determined._imports import load_optional
from determined.core import _environment

if TYPE_CHECKING:
    from determined.core._rank_link import Hub, Spoke

_DEFAULT_PORTS = (12360, 12376)


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
        pub_port: the chief's port; all ranks must name the same.
        pull_port: accepted for older scripts; one port is enough.
        port_offset: accepted for older scripts and unused.
        force_tcp: accepted for older scripts; TCP is always used.

    Raises:
        ValueError: some of the six numbers are given and some are None.
        AssertionError: several nodes and no `chief_ip`.
        RuntimeError: peers cannot be reached or do not know this allocation's secret.

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
        self._world: Hub | Spoke | None = None
        self._node: Hub | Spoke | None = None
        if self.size > 1:
            port = _environment.peer_ports()[0] if pub_port == _DEFAULT_PORTS[0] else pub_port
            self._connect(_chief_address(self.size, self.local_size, chief_ip), port)

    @classmethod
    def from_horovod(cls, hvd: Any, chief_ip: str | None = None) -> "DistributedContext":
        """From an initialised `horovod.<framework>` module."""
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
        """From what `determined.launch.deepspeed` sets."""
        found = _environment.ranks(_environment.DEEPSPEED, "python3 -m determined.launch.deepspeed")
        return cls(**_fields(found), chief_ip=chief_ip or _environment.chief_ip())

    @classmethod
    def from_torch_distributed(cls, chief_ip: str | None = None) -> "DistributedContext":
        """From what torchrun sets."""
        found = _environment.ranks(_environment.TORCH, "torchrun or python3 -m determined.launch.torch_distributed")
        return cls(**_fields(found), chief_ip=chief_ip or _environment.chief_ip())

    @classmethod
    def from_tf_config(cls) -> "tuple[DistributedContext, Any]":
        """From TF_CONFIG: the context and the matching `tf.distribute.Strategy`.

        Raises:
            RuntimeError: a task type other than "worker".
        """
        tf: Any = load_optional("tensorflow", extra="tensorflow")
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
        numbers: dict[str, Any] = {"rank": rank, "size": size, "cross_rank": rank, "cross_size": size}
        return cls(**numbers, local_rank=0, local_size=1, chief_ip=_environment.chief_ip() or host), strategy

    def get_rank(self) -> int:
        return self.rank

    def get_local_rank(self) -> int:
        return self.local_rank

    def get_size(self) -> int:
        return self.size

    def get_num_agents(self) -> int:
        return self.cross_size

    def gather(self, stuff: Any) -> list[Any] | None:
        """Every rank's value in rank order on the chief, None elsewhere."""
        return [stuff] if self._world is None else self._world.gather(stuff)

    def gather_local(self, stuff: Any) -> list[Any] | None:
        """As `gather`, among the ranks of this node."""
        return [stuff] if self._node is None else self._node.gather(stuff)

    def allgather(self, stuff: Any) -> list[Any]:
        """Every rank's value in rank order, everywhere."""
        return self.broadcast(self.gather(stuff))  # type: ignore[no-any-return]

    def allgather_local(self, stuff: Any) -> list[Any]:
        """As `allgather`, among the ranks of this node."""
        return self.broadcast_local(self.gather_local(stuff))  # type: ignore[no-any-return]

    def broadcast(self, stuff: Any) -> Any:
        """The chief's value, everywhere."""
        return stuff if self._world is None else self._world.broadcast(stuff)

    def broadcast_local(self, stuff: Any = None) -> Any:
        """The value of this node's local rank 0, everywhere on the node."""
        return stuff if self._node is None else self._node.broadcast(stuff)

    def close(self) -> None:
        for link in {id(link): link for link in (self._world, self._node) if link is not None}.values():
            link.close()
        self._world = self._node = None

    def __enter__(self) -> "DistributedContext":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _connect(self, address: str, port: int) -> None:
        # Here, because a process without peers, which most are, would wait for what it never needs.
        from determined.core import _rank_start

        secret = _rank_start.secret()
        if self.rank == 0:
            self._world = _rank_start.hub(_rank_start.listen_at(address, port), self.size, secret)
        else:
            self._world = _rank_start.spoke((address, port), self.rank, secret)
        self._node = self._connect_node(secret)

    def _connect_node(self, secret: bytes) -> "Hub | Spoke | None":
        """A link of this node's own, unless it would be the same one or have nobody on it."""
        from determined.core import _rank_start

        if self.local_size == self.size:
            return self._world
        listener = _rank_start.listen_locally() if self.local_rank == 0 and self.local_size > 1 else None
        port = listener.getsockname()[1] if listener else None
        ports = self.allgather((self.cross_rank, self.local_rank, port))
        if listener is not None:
            return _rank_start.hub(listener, self.local_size, secret)
        if self.local_size < 2:
            return None
        hub = next(p for cross, local, p in ports if (cross, local) == (self.cross_rank, 0))
        return _rank_start.spoke(("127.0.0.1", hub), self.local_rank, secret)


_ALONE: dict[str, Any] = {"rank": 0, "size": 1, "local_rank": 0, "local_size": 1, "cross_rank": 0, "cross_size": 1}


def _checked(*numbers: int | None) -> tuple[int, ...]:
    """The six numbers, or those of a process alone when none is given."""
    given = tuple(number for number in numbers if number is not None)
    if given and len(given) < len(numbers):
        raise ValueError(f"rank, size, local_*, cross_* must be given together, got {numbers}")
    return given or tuple(_ALONE.values())


def _fields(found: _environment.Ranks) -> dict[str, Any]:
    return {name: getattr(found, name) for name in _ALONE}


def _chief_address(size: int, local_size: int, chief_ip: str | None) -> str:
    if local_size == size:
        return "127.0.0.1"
    if chief_ip is None:
        raise AssertionError(f"size={size} spans several nodes (local_size={local_size}); pass chief_ip")
    return chief_ip
