"""Two real ranks over gloo train as one process does on all their data: DDP, FSDP2, aggregation, torch.compile."""

import contextlib
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import parallel_jobs
import pytest
import torch
from made_context import made_context
from ranks import run_ranks

from determined import _info, core
from determined.errors import InvalidExperimentException
from determined.pytorch import _parallel


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("USE_TORCH_DISTRIBUTED", "True")
        return run_ranks(2, f"{parallel_jobs.__file__}:everything", tmp_path_factory.mktemp("ranks"), connected=False)


def _differ(ours: Any, theirs: Any) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize(
    "job",
    [
        "ddp",
        "ddp_begins_with_the_chiefs_weights",
        "sharded",
        "sharded_begins_with_the_chiefs_weights",
        "sharded_by_the_user",
    ],
)
def test_ranks_train_as_one_process_on_all_data(ranks: Any, job: str) -> None:
    alone = parallel_jobs.trained_alone()
    for rank in ranks:
        assert _differ(rank[job], alone) < 1e-6


@pytest.mark.parametrize("job", ["aggregated", "compiled", "sharded_aggregated", "resumed_between_steps"])
def test_ranks_that_aggregate_train_as_on_larger_batches(ranks: Any, job: str) -> None:
    alone = parallel_jobs.trained_alone(every=4)
    assert _differ(ranks[0][job], alone) < 1e-6
    assert _differ(ranks[0][job], parallel_jobs.trained_alone()) > 1e-3


@pytest.mark.parametrize("job", ["clipped", "sharded_clipped"])
def test_gradients_are_clipped_after_they_were_exchanged(ranks: Any, job: str) -> None:
    assert _differ(ranks[0][job], parallel_jobs.trained_alone(clip=parallel_jobs._clip)) < 1e-6
    assert _differ(ranks[0][job], parallel_jobs.trained_alone()) > 1e-3


def test_ranks_train_in_bfloat16(ranks: Any) -> None:
    assert _differ(ranks[0]["in_bfloat16"], ranks[1]["in_bfloat16"]) == 0
    assert _differ(ranks[0]["in_bfloat16"], parallel_jobs.trained_alone_in_bfloat16()) < 1e-6
    assert _differ(ranks[0]["in_bfloat16"], ranks[0]["ddp"]) > 1e-4


def test_compressed_gradients_lose_some_digits_and_no_more(ranks: Any) -> None:
    assert 0 < _differ(ranks[0]["compressed"], ranks[0]["ddp"]) < 1e-2
    assert _differ(ranks[0]["compressed"], ranks[1]["compressed"]) == 0


def test_no_gradients_are_exchanged_on_a_batch_that_does_not_step(ranks: Any) -> None:
    first, second = (rank["gradients_of_a_batch_that_does_not_step"] for rank in ranks)
    assert not np.allclose(first, second)


def test_sharded_gradients_collected_so_far_are_not_part_of_a_checkpoint(ranks: Any) -> None:
    assert ranks[0]["pending_of_shards"] is None


def test_what_surrounds_a_model_over_several_ranks(ranks: Any) -> None:
    shapes = ranks[0]["shapes"]
    assert shapes["ddp"] == ("DistributedModel", "own", True)
    assert shapes["frozen"] == "Net"
    assert shapes["compiled"] == ("OptimizedModule", "Net", "own")
    assert shapes["names"]
    assert not shapes["missing"]
    assert shapes["sharded"] == ["", "blocks.0", "blocks.1"]
    assert sum(rank["shapes"]["local"] for rank in ranks) == shapes["all"]


def test_an_optimizer_of_a_sharded_model_is_made_afterwards(ranks: Any) -> None:
    assert "make the optimizer from the model that wrap_model(shard=...) returned" in ranks[0]["stale_optimizer"]


def test_the_launchers_variables_start_and_the_blocks_end_stops_the_backend(ranks: Any) -> None:
    assert [rank["backend"] for rank in ranks] == [("gloo", 2, 0), ("gloo", 2, 1)]
    assert all(rank["is_stopped"] for rank in ranks)


def test_ranks_without_a_meeting_place_are_told_how_to_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    one_of_two = core.DummyDistributedContext()
    one_of_two.size = 2
    with pytest.raises(InvalidExperimentException, match=r"MASTER_ADDR.* not set; start the script with torchrun"):
        made_context(tmp_path, one_of_two).wrap_model(torch.nn.Linear(1, 1))


def test_a_process_on_its_own_starts_nothing() -> None:
    with _parallel.backend(None, None) as distributed:
        assert distributed is None


@pytest.mark.parametrize("size", [1, 2])
def test_ranks_of_torchrun_off_cluster_train_together(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """`join_process_group` would wait for peers; who they are is what counts here."""
    joined: list[str] = []
    monkeypatch.setattr(_parallel, "join_process_group", lambda: joined.append("joined"))
    monkeypatch.setattr(core.DistributedContext, "from_torch_distributed", lambda: f"one of {size}")
    torchrun = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1", "RANK": "0", "WORLD_SIZE": str(size)}
    for name, value in torchrun.items():
        monkeypatch.setenv(name, value)
    with _parallel.backend(None, None) as distributed:
        assert distributed == ("one of 2" if size == 2 else None)
    assert joined == (["joined"] if size == 2 else [])


def test_off_cluster_the_script_says_who_it_is() -> None:
    given = core.DummyDistributedContext()
    with _parallel.backend(None, given) as distributed:
        assert distributed is given


def test_several_slots_without_a_launcher_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = _info.TrialInfo(trial_id=1, experiment_id=1, trial_seed=1, hparams={}, config={})
    info = _info.ClusterInfo(
        master_url="http://127.0.0.1:1", cluster_id="c", agent_id="a", slot_ids=[0, 1], task_id="t",
        allocation_id="t.1", session_token="s", task_type="TRIAL", trial_info=trial,
        rendezvous_info=_info.RendezvousInfo(["127.0.0.1"], 0, [2]),
    )  # fmt: skip
    monkeypatch.setattr(_parallel, "get_cluster_info", lambda: info)
    with pytest.raises(ValueError, match=r"2 slots on 1 node.*determined.launch.torch_distributed"):
        _parallel.start_backend()


class _Horovod(types.ModuleType):
    """Notes what it is asked for; stands in for a library that is compiled where it is installed."""

    class Compression:
        fp16, none = "fp16", "none"

    def __init__(self) -> None:
        super().__init__("horovod.torch")
        self.calls: list[Any] = []
        for name in ("init", "shutdown"):
            setattr(self, name, lambda name=name: self.calls.append(name))
        for name in ("rank", "local_rank", "cross_rank"):
            setattr(self, name, lambda: 0)
        for name in ("size", "local_size", "cross_size"):
            setattr(self, name, lambda: 1)

    def broadcast_parameters(self, state: dict[str, Any], root_rank: int) -> None:
        self.calls.append(("broadcast", sorted(state), root_rank))

    def DistributedOptimizer(self, optimizer: Any, named_parameters: Any, **options: Any) -> Any:
        self.calls.append(("optimizer", [name for name, _ in named_parameters], options))
        step = optimizer.step
        optimizer.synchronize = lambda: self.calls.append("synchronize")
        optimizer.step = lambda: self.calls.append("step") or step()
        optimizer.skip_synchronize = lambda: contextlib.nullcontext(self.calls.append("skip_synchronize"))
        return optimizer


def test_horovod_exchanges_gradients_once_for_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    horovod = _Horovod()
    monkeypatch.setitem(sys.modules, "horovod", types.ModuleType("horovod"))
    monkeypatch.setitem(sys.modules, "horovod.torch", horovod)
    monkeypatch.setenv("USE_HOROVOD", "1")
    with _parallel.backend(None, None) as distributed:
        assert distributed is not None
        distributed.size = 2
        context = made_context(tmp_path, distributed, aggregation_frequency=2, gradient_compression=True)
        model = context.wrap_model(torch.nn.Linear(1, 1))
        optimizer = context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1), backward_passes_per_step=3)
        with pytest.raises(InvalidExperimentException, match=r"shard=True\) needs torch's own ranks"):
            context.wrap_model(torch.nn.Linear(1, 1), shard=True)
        for batch in range(2):
            context._before_batch(batch)
            context.backward(model(torch.ones(1, 1)).sum())
            context.step_optimizer(optimizer, clip_grads=lambda _: horovod.calls.append("clip"))
    options = {"backward_passes_per_step": 6, "compression": "fp16"}
    assert horovod.calls == [
        "init",
        ("broadcast", ["bias", "weight"], 0),
        ("optimizer", ["optimizer0.0", "optimizer0.1"], options),
        "synchronize",
        "clip",
        "skip_synchronize",
        "step",
        "shutdown",
    ]
