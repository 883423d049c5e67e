"""Test what several nodes store together."""

import socket
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from determined import core
from determined.core._offcluster import DummyCheckpointContext
from determined.storage import SharedFSStorageManager
from determined.transformers import _checkpoints


def test_nodes_that_save_the_same_files_store_one_of_each(off_cluster: Path, tmp_path: Path) -> None:
    """`save_on_each_node`: their states have other run times in them."""
    for rank in (0, 1):
        saved = tmp_path / f"node{rank}" / "checkpoint-5"
        saved.mkdir(parents=True)
        (saved / "trainer_state.json").write_text(f"{rank}")
        (saved / f"rng_state_{rank}.pth").write_text("random")

    def store(core_context: Any, rank: int) -> str:
        return _checkpoints.store(core_context, tmp_path / f"node{rank}", 5, 7, None, None)

    first, second = _on_two_nodes(store, SharedFSStorageManager(str(tmp_path / "store")))
    assert first == second
    stored = tmp_path / "store" / first / "checkpoint-5"
    assert {path.name for path in stored.iterdir()} == {"trainer_state.json", "rng_state_0.pth", "rng_state_1.pth"}
    assert (stored / "trainer_state.json").read_text() == "0"


def _on_two_nodes(work: Any, storage: SharedFSStorageManager) -> list[Any]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    outcomes: dict[int, Any] = {}

    def live(rank: int) -> None:
        place = {"local_rank": 0, "local_size": 1, "cross_rank": rank, "cross_size": 2, "chief_ip": "127.0.0.1"}
        try:
            with core.DistributedContext(rank=rank, size=2, pub_port=port, **place) as distributed:
                checkpoint = DummyCheckpointContext(distributed, storage)
                outcomes[rank] = work(SimpleNamespace(distributed=distributed, checkpoint=checkpoint), rank)
        except Exception as err:  # shown by the comparison of what the two returned
            outcomes[rank] = err

    threads = [threading.Thread(target=live, args=(rank,)) for rank in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [outcomes[0], outcomes[1]]
