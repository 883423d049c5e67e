"""A checkpoint that only its own task can see is never reported: the save fails, with the reason, in the user's code.

Mounts of a task's own are made with `unshare -m`, for which the tests must be root.
"""

import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster import Client, Cluster, eventually, write_experiment

needs_mounts = pytest.mark.skipif(
    os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0,
    reason="mounts of a task's own need root",
)

SAVE = """
import os
import determined as det
from determined import core
from determined.errors import CheckpointNotStored

with core.init() as context:
    steps = 1
    latest = context.info.latest_checkpoint
    if latest is not None:
        with context.checkpoint.restore_path(latest) as path:
            print("restored", (path / "weights").read_text(), flush=True)
    try:
        with context.checkpoint.store_path({"steps_completed": steps}) as (path, storage_id):
            (path / "weights").write_text("w" * 100)
            (path / "sub").mkdir()
        print("saved", storage_id, flush=True)
    except CheckpointNotStored as e:
        print("not stored:", e, flush=True)
        raise SystemExit(3)
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store"
    path.mkdir(mode=0o777)
    return path


def _run(client: Client, directory: Path, store: Path, script: str = SAVE, **config: Any) -> tuple[int, str, list[str]]:
    """(experiment, its end, the lines of its one trial)."""
    section = {"checkpoint_storage": {"type": "shared_fs", "host_path": str(store)}}
    experiment = client.submit(write_experiment(directory / "model", script, section | config))
    state = client.wait_state(experiment, "COMPLETED", "ERROR")
    [trial] = client.trials(experiment)
    return experiment, state, client.log_lines(trial["id"])


def _checkpoints(client: Client, experiment: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/api/v1/experiments/{experiment}/checkpoints")["checkpoints"]
    return found


def _refused(client: Client, experiment: int, state: str, lines: list[str]) -> None:
    text = "\n".join(lines)
    assert state == "ERROR", text
    assert _checkpoints(client, experiment) == []
    assert "the master does not see it" in text and "save in a directory that the master and every task see" in text
    assert any("not stored: the master does not take checkpoint" in line for line in lines), text
    assert any("was dropped: the master does not see it" in line for line in lines), text
    assert client.trials(experiment)[0].get("latestCheckpoint") is None


@needs_mounts
@pytest.mark.parametrize("kind", ["shared_fs", "directory"])
def test_a_store_that_is_mounted_in_the_task_alone_is_refused(
    client: Client, tmp_path: Path, store: Path, kind: str
) -> None:
    key = {"shared_fs": "host_path", "directory": "container_path"}[kind]
    entry = f"unshare -m sh -c 'mount -t tmpfs none {store} && exec python3 train.py'"
    section = {"type": kind, key: str(store)}
    experiment, state, lines = _run(client, tmp_path, store, entrypoint=entry, checkpoint_storage=section)
    _refused(client, experiment, state, lines)


@needs_mounts
def test_a_store_below_a_tmp_of_the_tasks_own_is_refused(client: Client, tmp_path: Path) -> None:
    """The run directory and the checkout may lie below /tmp as well: both are carried into the new one."""
    store, checkout = Path("/tmp") / f"determined-test-{uuid.uuid4()}", Path(__file__).parents[2]
    entry = (
        "unshare -m sh -c 'mkdir -p /mnt && mount --rbind / /mnt && mount -t tmpfs none /tmp && "
        f"for each in $DET_RUN_DIR {checkout}; do mkdir -p $each && mount --rbind /mnt$each $each; done && "
        f"mkdir -p {store} && cd $DET_RUN_DIR/workdir && exec python3 train.py'"
    )
    try:
        got = _run(client, tmp_path, store, entrypoint=entry)
    finally:
        shutil.rmtree(store, ignore_errors=True)
    _refused(client, *got)


def test_a_store_below_tmp_is_the_hosts(client: Client, tmp_path: Path) -> None:
    place = Path("/tmp") / f"determined-test-{uuid.uuid4()}"
    try:
        experiment, state, lines = _run(client, tmp_path, place)
        assert state == "COMPLETED", lines
        [saved] = _checkpoints(client, experiment)
        assert (place / saved["uuid"] / "weights").stat().st_size == 100
    finally:
        shutil.rmtree(place, ignore_errors=True)


@needs_mounts
def test_a_disk_of_one_nodes_own_is_refused_where_the_master_does_not_see_it(tmp_path: Path, store: Path) -> None:
    """Two nodes of one machine: the second has another file system in the place of the store."""
    running = Cluster(tmp_path / "cluster", slots=1, config={"local_agents": 2})
    running.start()
    try:
        client = Client(running.url)
        nodes = [agent["id"] for agent in client.get("/api/v1/agents")["agents"]]
        second = max(nodes, key=len)
        entry = (
            f'if [ "$DET_AGENT_ID" = {second} ]; then unshare -m sh -c '
            f"'mount -t tmpfs none {store} && exec python3 train.py'; else exec python3 train.py; fi"
        )
        script = SAVE + f"\nimport time\ntime.sleep(1000 if os.environ['DET_AGENT_ID'] != {second!r} else 0)\n"
        section = {"checkpoint_storage": {"type": "shared_fs", "host_path": str(store)}, "entrypoint": entry}
        first = client.submit(write_experiment(tmp_path / "one", script, section))
        other = client.submit(write_experiment(tmp_path / "two", script, section))
        ended = _first_that_ended(client, [first, other])
        stays = {first, other} - {ended}
        [trial] = client.trials(ended)
        _refused(client, ended, client.state(ended), client.log_lines(trial["id"]))
        [saved] = _checkpoints(client, stays.pop())
        assert saved["state"] == "STATE_COMPLETED" and (store / saved["uuid"] / "weights").exists()
    finally:
        running.stop()
        running.end_runners()


def _first_that_ended(client: Client, experiments: list[int]) -> int:
    def ended() -> int | None:
        saved = [one for one in experiments if _checkpoints(client, one)]
        done = [one for one in experiments if client.state(one) == "ERROR"]
        return done[0] if done and saved else None

    return int(eventually(ended))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "small"
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=1777", "none", str(path)], check=True)
    yield path
    subprocess.run(["umount", str(path)], check=True)


FILLS = SAVE.replace('write_text("w" * 100)', 'write_text("w" * 10_000_000)')
UPLOADS = """
from pathlib import Path
from determined import core

Path("mine").mkdir()
Path("mine/weights").write_text("w" * 10_000_000)
with core.init() as context:
    context.checkpoint.upload("mine", {"steps_completed": 1})
"""


@needs_mounts
@pytest.mark.parametrize("script", [FILLS, UPLOADS], ids=["store_path", "upload"])
def test_a_disk_that_fills_up_fails_the_save_and_names_the_store(
    client: Client, tmp_path: Path, small_disk: Path, script: str
) -> None:
    experiment, state, lines = _run(client, tmp_path, small_disk, script)
    assert state == "ERROR", lines
    assert _checkpoints(client, experiment) == []
    text = "\n".join(lines)
    assert "No space left on device" in text
    assert f"checkpoint storage {small_disk} is full" in text, text
    assert [path.name for path in small_disk.iterdir() if not path.name.startswith("c")] == [], "what was begun is gone"


@pytest.mark.parametrize("who", ["startup-hook.sh", "entrypoint"])
def test_a_hook_that_changes_the_directory_changes_nothing_for_checkpoints(
    client: Client, tmp_path: Path, store: Path, who: str
) -> None:
    script = SAVE + "\nprint('saved from', os.getcwd(), flush=True)\nos.chdir('/')\n"
    (tmp_path / "model").mkdir()
    hook, entrypoint = ("cd /tmp\n", "python3 $DET_WORKDIR/train.py")
    if who == "entrypoint":
        hook, entrypoint = "", f"cd /tmp && exec {entrypoint}"
    (tmp_path / "model" / "startup-hook.sh").write_text(hook)
    experiment, state, lines = _run(client, tmp_path, store, script, entrypoint=entrypoint)
    assert state == "COMPLETED", lines
    assert any("saved from /tmp" in line for line in lines), lines
    [saved] = _checkpoints(client, experiment)
    assert (store / saved["uuid"] / "weights").read_text() == "w" * 100
    more = {"searcher": {"name": "single", "metric": "x", "max_length": {"batches": 200}}}
    client.post("/api/v1/experiments/continue", {"id": experiment, "overrideConfig": json.dumps(more)})
    client.wait_state(experiment, "COMPLETED")
    [trial] = client.trials(experiment)
    assert any("restored " + "w" * 100 in line for line in client.log_lines(trial["id"]))


CHOSEN = """
from pathlib import Path
from determined import core

for place in ("relative", "~/checkpoints", str(Path.cwd() / "below")):
    try:
        core.init(checkpoint_storage=place)
        print("taken", place, flush=True)
    except ValueError as e:
        print("refused:", e, flush=True)
"""


def test_a_script_cannot_choose_a_place_that_goes_with_its_task(client: Client, tmp_path: Path, store: Path) -> None:
    _, state, lines = _run(client, tmp_path, store, CHOSEN)
    assert state == "COMPLETED"
    said = [line for line in lines if "refused:" in line]
    assert len(said) == 3 and not any("taken" in line for line in lines), lines
    assert "must be absolute, not `relative`" in said[0]
    assert "must be absolute, not `~/checkpoints`" in said[1]
    assert "which is deleted when the task ends" in said[2]


TEMPORARY = """
import tempfile
from determined import core
from determined.errors import CheckpointNotStored

try:
    with core.init(checkpoint_storage=tempfile.mkdtemp()) as context:
        with context.checkpoint.store_path({"steps_completed": 1}) as (path, storage_id):
            (path / "weights").write_text("w")
    print("saved", flush=True)
except ValueError as e:
    print("refused:", e, flush=True)
"""


def test_temporary_directories_of_a_task_are_no_storage(client: Client, tmp_path: Path, store: Path) -> None:
    """In a /tmp of its own as in a directory of its own below the one of all."""
    experiment, state, lines = _run(client, tmp_path, store, TEMPORARY)
    assert state == "COMPLETED", lines
    assert any("refused:" in line and "in the /tmp of this task alone" in line for line in lines), lines
    assert _checkpoints(client, experiment) == []


OWN = """
from determined import core
from determined.common.storage import SharedFSStorageManager

with core.init(storage_manager=SharedFSStorageManager({place!r})) as context:
    with context.checkpoint.store_path({{"steps_completed": 1}}) as (path, storage_id):
        (path / "weights").write_text("w")
"""


def test_a_store_that_an_older_script_brings_is_known_to_the_master(
    client: Client, tmp_path: Path, store: Path
) -> None:
    own = store / "own"
    experiment, state, lines = _run(client, tmp_path, store, OWN.format(place=str(own)))
    assert state == "COMPLETED", lines
    [saved] = _checkpoints(client, experiment)
    assert (own / saved["uuid"] / "weights").exists() and saved["storageId"] is not None
