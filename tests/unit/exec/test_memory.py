"""Which ends of a task are put down to memory."""

from pathlib import Path

import pytest

from determined.constants import GPU_OOM_LABEL, HOST_OOM_LABEL
from determined.exec.runner.memory import KillCount, find_shortage


def cgroup(tmp_path: Path, membership: str, directory: str, name: str, limit: tuple[str, str]) -> KillCount:
    own = tmp_path / "fs" / directory
    own.mkdir(parents=True)
    (own / name).write_text("under_oom 0\noom_kill 4\n")
    (own / limit[0]).write_text(limit[1])
    (tmp_path / "membership").write_text(membership)
    return KillCount(tmp_path / "fs", tmp_path / "membership")


def kill_one(tmp_path: Path) -> None:
    (counter,) = [*tmp_path.rglob("memory.events"), *tmp_path.rglob("memory.oom_control")]
    counter.write_text("under_oom 0\noom_kill 5\n")


@pytest.mark.parametrize(
    ("membership", "directory", "name", "limit"),
    [
        ("3:cpu:/x\n4:memory:/a/b\n0::/\n", "memory/a/b", "memory.oom_control", "memory.limit_in_bytes"),
        ("4:cpu,memory:/docker/1f\n", "memory", "memory.oom_control", "memory.limit_in_bytes"),
        ("0::/user.slice/app\n", "user.slice/app", "memory.events", "memory.max"),
        ("0::/user.slice/app\n", "user.slice", "memory.events", "memory.max"),
    ],
    ids=["v1", "v1 in a container", "v2", "v2 without a controller of its own"],
)
def test_kill_by_the_kernel_is_found_in_either_version_of_cgroups(
    tmp_path: Path, membership: str, directory: str, name: str, limit: str
) -> None:
    kills = cgroup(tmp_path, membership, directory, name, (limit, f"{512 * 2**20}\n"))
    assert find_shortage({137}, [], kills) is None
    kill_one(tmp_path)
    short = find_shortage({137}, [], kills)
    assert short is not None
    assert short.label == HOST_OOM_LABEL
    assert "the kernel ended a process of this task's cgroup (its limit is 512 MiB)" in short.what
    assert "num_workers" in short.advice


@pytest.mark.parametrize(("limit", "text"), [("memory.max", "max\n"), ("memory.limit_in_bytes", f"{2**63 - 4096}\n")])
def test_cgroup_without_a_limit_is_not_said_to_have_one(tmp_path: Path, limit: str, text: str) -> None:
    assert cgroup(tmp_path, "0::/\n", "", "memory.events", (limit, text)).limit() is None


def test_kills_of_a_neighbour_are_not_ours(tmp_path: Path) -> None:
    kills = cgroup(tmp_path, "0::/\n", "", "memory.events", ("memory.max", "max\n"))
    kill_one(tmp_path)
    assert find_shortage({1}, ["ValueError: something else"], kills) is None
    worker = "RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed."
    assert find_shortage({1}, [worker], kills) is not None


def test_host_without_cgroups_counts_nothing(tmp_path: Path) -> None:
    kills = KillCount(tmp_path, tmp_path / "none")
    assert (kills.since(), kills.limit(), find_shortage({137}, [], kills)) == (0, None, None)


@pytest.mark.parametrize(
    ("line", "label", "advice"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", GPU_OOM_LABEL, "global_batch_size"),
        ("torch.cuda.OutOfMemoryError: HIP out of memory", GPU_OOM_LABEL, "bf16"),
        ("RuntimeError: CUDA error: out of memory", GPU_OOM_LABEL, "aggregation_frequency"),
        ("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED", GPU_OOM_LABEL, "shard"),
        ("MemoryError", HOST_OOM_LABEL, "num_workers"),
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8 TiB", HOST_OOM_LABEL, "num_workers"),
        ("RuntimeError: [...] DefaultCPUAllocator: can't allocate memory: you tried", HOST_OOM_LABEL, "num_workers"),
        ("OSError: [Errno 12] Cannot allocate memory", HOST_OOM_LABEL, "num_workers"),
        ("ERROR: ... out of bus: insufficient shared memory (shm).", HOST_OOM_LABEL, "shm_size"),
        ("RuntimeError: unable to allocate shared memory(shm) for file </torch_1>: Success (0)", HOST_OOM_LABEL, "shm"),
        ("RuntimeError: ... dataloader's workers are out of shared memory. Please try", HOST_OOM_LABEL, "shm_size"),
        ("XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes", GPU_OOM_LABEL, "shard"),
    ],
)
def test_last_words_of_a_task_tell_which_memory_was_short(tmp_path: Path, line: str, label: str, advice: str) -> None:
    short = find_shortage({1}, ["Traceback", line, "a word after it"], KillCount(tmp_path, tmp_path / "none"))
    assert short is not None
    assert (short.label, line in short.what) == (label, True)
    assert advice in short.advice


HEADER = "Traceback (most recent call last):"
FRAME = '  File "train.py", line 3, in <module>'
GPU_LINE = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"


@pytest.mark.parametrize(
    ("lines", "label"),
    [
        ([HEADER, FRAME, GPU_LINE, "a smaller batch is tried", HEADER, FRAME, "ValueError: lr"], None),
        ([GPU_LINE, HEADER, FRAME, "", "ValueError: lr"], None),
        ([HEADER, FRAME, "ValueError: lr", "", "During handling of it:", HEADER, FRAME, GPU_LINE], GPU_OOM_LABEL),
        ([HEADER, FRAME, "RuntimeError: Caught MemoryError in DataLoader worker process 0.",
          f"Original {HEADER}", FRAME, "MemoryError"], HOST_OOM_LABEL),
        ([HEADER, FRAME, GPU_LINE, HEADER, FRAME, "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
          "train.py FAILED"], GPU_OOM_LABEL),
        ([HEADER, FRAME, "ValueError: lr", "terminate called after throwing an instance of 'std::bad_alloc'"],
         HOST_OOM_LABEL),
        (["ERROR: Unexpected bus error. This might be caused by insufficient shared memory (shm).", HEADER, FRAME,
          "RuntimeError: DataLoader worker (pid(s) 7) exited unexpectedly"], HOST_OOM_LABEL),
        ([HEADER], None),
    ],
    ids=["caught before", "printed before", "last of a chain", "of a loading worker", "told by torchrun",
         "abort after one that was caught", "loading worker that died", "cut off"],
)  # fmt: skip
def test_the_exception_that_ended_the_task_counts_and_none_before_it(
    tmp_path: Path, lines: list[str], label: str | None
) -> None:
    short = find_shortage({1}, lines, KillCount(tmp_path, tmp_path / "none"))
    assert (None if short is None else short.label) == label


@pytest.mark.parametrize(
    "line",
    [
        "grpc: RESOURCE_EXHAUSTED: quota of requests exceeded",
        "ValueError: lr",
        "peak memory 3 GiB",
        "except MemoryError:",
        "memory is plentiful",
    ],
)
def test_other_words_are_no_shortage(tmp_path: Path, line: str) -> None:
    assert find_shortage({1}, [line], KillCount(tmp_path, tmp_path / "none")) is None
