"""Several ranks of a small job as real processes, with torch.distributed over gloo and a core DistributedContext.

`run_ranks(2, f"{__file__}:work", 3)` calls `work(distributed, 3)` of that file in two processes. They are forked from a
server that has imported torch once: importing it takes longer than most of the jobs.
"""

import importlib.util
import multiprocessing
import os
import pickle
import secrets
import signal
import sys
import tempfile
import time
import traceback
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from kept_port import kept_port

_SECONDS = 240.0
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["pytest", "torch.distributed", "determined.pytorch"])


def run_ranks(
    size: int, function_path: str, *args: Any, connected: bool = True, seconds: float = _SECONDS
) -> list[Any]:
    """Return what the function returned on each rank.

    Args:
        size: number of processes.
        function_path: `file.py:name` of a function at the top of a file.
        args: what it gets, after the core DistributedContext; must be picklable, as its result.
        connected: False calls it with `args` alone, in an environment as a launcher makes it, and connects nothing.
        seconds: for all of it.

    Raises:
        RuntimeError: it failed on a rank; with the tracebacks of all.
    """
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "job").write_bytes(pickle.dumps((function_path, args, connected)))
        with kept_port() as port:
            shared = {"MASTER_PORT": str(port), "DET_SESSION_TOKEN": secrets.token_hex()}
            ranks = [_start(rank, size, directory, shared) for rank in range(size)]
            try:
                _wait(ranks, seconds)
            finally:
                for process in ranks:
                    process.kill()
                    process.join()
        return _results(ranks, Path(directory))


def _start(rank: int, size: int, directory: str, shared: dict[str, str]) -> ForkServerProcess:
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith("DET_")},
        **shared,
        "MASTER_ADDR": "127.0.0.1",
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_RANK": str(rank),
        "LOCAL_WORLD_SIZE": str(size),
        "GROUP_RANK": "0",
        "GROUP_WORLD_SIZE": "1",
    }
    process = _SERVER.Process(target=_be_rank, args=(directory, variables, str(Path.cwd())))
    process.start()
    return process


def _wait(ranks: list[ForkServerProcess], seconds: float) -> None:
    """Until all have ended, or a while after the first that failed: the others may wait for it for ever."""
    deadline = time.monotonic() + seconds
    failed = False
    while any(process.exitcode is None for process in ranks) and time.monotonic() < deadline:
        if not failed and any(process.exitcode for process in ranks):
            failed, deadline = True, min(deadline, time.monotonic() + 5)
        time.sleep(0.02)


def _results(ranks: list[ForkServerProcess], directory: Path) -> list[Any]:
    if any(process.exitcode for process in ranks):
        told = [
            f"rank {rank} ({_fate(process.exitcode)}):\n{(directory / f'output{rank}').read_text()}"
            for rank, process in enumerate(ranks)
        ]
        raise RuntimeError("\n".join(told))
    return [pickle.loads((directory / f"result{rank}").read_bytes()) for rank in range(len(ranks))]


def _fate(code: int | None) -> str:
    return "did not end in time" if code == -signal.SIGKILL else f"status {code}"


def _be_rank(directory: str, variables: dict[str, str], place: str) -> None:
    """What the forked process does; it never returns."""
    import torch

    os.chdir(place)
    os.environ.clear()
    os.environ.update(variables)
    torch.set_num_threads(1)
    with (Path(directory) / f"output{variables['RANK']}").open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    code = 0
    try:
        _work(Path(directory))
    except BaseException:  # the edge of this process: the parent reads the traceback
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # gloo's threads may wait for peers that never come


def _work(directory: Path) -> None:
    function_path, args, connected = pickle.loads((directory / "job").read_bytes())
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    file, _, name = function_path.rpartition(":")
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    assert spec is not None and spec.loader is not None, f"no module {file}"
    module = importlib.util.module_from_spec(spec)
    sys.modules[Path(file).stem] = module
    spec.loader.exec_module(module)
    work = getattr(module, name)
    result = _connected(work, args) if connected else work(*args)
    (directory / f"result{os.environ['RANK']}").write_bytes(pickle.dumps(result))


def _connected(work: Any, args: tuple[Any, ...]) -> Any:
    import torch.distributed

    from determined import core

    torch.distributed.init_process_group("gloo")
    try:
        with core.DistributedContext.from_torch_distributed() as distributed:
            return work(distributed, *args)
    finally:
        torch.distributed.destroy_process_group()
