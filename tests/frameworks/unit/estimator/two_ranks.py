"""Two ranks as threads of this process, with real links between them and a graph each."""

import secrets
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tensorflow as tf

from determined import core

SIZE = 2


def on_two_ranks(work: Callable[[core.DistributedContext], Any], monkeypatch: Any) -> list[Any]:
    """Return what `work` returned on each."""
    monkeypatch.setenv("DET_SESSION_TOKEN", secrets.token_hex())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with ThreadPoolExecutor(SIZE) as threads:
        return list(threads.map(lambda rank: _one(rank, port, work), range(SIZE)))


def _one(rank: int, port: int, work: Callable[[core.DistributedContext], Any]) -> Any:
    numbers = {"rank": rank, "local_rank": rank, "cross_rank": 0, "size": SIZE, "local_size": SIZE, "cross_size": 1}
    with core.DistributedContext(**numbers, pub_port=port) as distributed, tf.Graph().as_default():
        return work(distributed)
