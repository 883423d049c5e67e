"""A machine whose loopback has no IPv4 address, or none at all, and a HOME on a file system of its own."""

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cluster import HANG_SECONDS, clean_environment, write_experiment

Run = Callable[..., "subprocess.CompletedProcess[str]"]
DET = str(Path(sys.executable).with_name("det"))
SAVES = """
import determined as det
with det.core.init() as core:
    core.train.report_validation_metrics(1, {"x": 1.0})
    with core.checkpoint.store_path({"steps_completed": 1}) as (path, _):
        (path / "weights").write_text("kept")
print("trained", flush=True)
"""

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0
    or shutil.which("ip") is None
    or subprocess.run(["unshare", "-n", "-m", "true"], check=False, capture_output=True).returncode != 0,
    reason="namespaces need root, `ip` and `unshare`",
)


def run_in(namespace: list[str], home: Path) -> Run:
    """Return what runs `det` with this home in a namespace."""

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        variables = clean_environment(HOME=str(home), NO_COLOR="1")
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            variables.pop(name, None)
        return subprocess.run(
            [*namespace, DET, *words], capture_output=True, text=True, env=variables, timeout=HANG_SECONDS, check=False
        )

    return run


@pytest.fixture
def network() -> Iterator[str]:
    """A network of its own, whose loopback is down."""
    name = f"dt{uuid.uuid4().hex[:8]}"
    made = subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no network namespaces here: {made.stderr}")
    yield name
    subprocess.run(["ip", "netns", "delete", name], check=True, capture_output=True)


@pytest.fixture
def isolated(network: str, home: Path) -> Iterator[Run]:
    run = run_in(["ip", "netns", "exec", network], home)
    yield run
    run("master", "stop")


def give_loopback(network: str, *, without: tuple[str, ...]) -> None:
    subprocess.run(["ip", "-n", network, "link", "set", "lo", "up"], check=True)
    for address in without:
        subprocess.run(["ip", "-n", network, "address", "delete", address, "dev", "lo"], check=True)


def test_an_embedded_master_listens_on_ipv6_where_loopback_has_nothing_else(
    network: str, isolated: Run, home: Path, tmp_path: Path
) -> None:
    give_loopback(network, without=("127.0.0.1/8",))
    config = write_experiment(tmp_path / "model", SAVES)
    created = isolated("e", "create", str(config), str(config.parent), "-f")
    assert (created.returncode, "trained" in created.stdout) == (0, True), created.stdout + created.stderr
    [experiment] = json.loads(isolated("e", "list", "--json").stdout)
    assert experiment["state"].endswith("COMPLETED")
    assert "http://[::1]:" in isolated("master", "info").stderr
    data = home / ".local" / "share" / "determined" / "embedded"
    process = (data / "master.lock").read_text()
    (data / "state.json").unlink()
    assert isolated("master", "start").returncode == 0
    assert (data / "master.lock").read_text() == process, "it is found again without its state file"
    ran = isolated("cmd", "run", "echo", "still here")
    assert (ran.returncode, "still here" in ran.stdout) == (0, True), ran.stdout + ran.stderr


def test_a_machine_without_an_address_of_loopback_is_told_what_to_do(
    network: str, isolated: Run, tmp_path: Path
) -> None:
    give_loopback(network, without=("127.0.0.1/8", "::1/128"))
    config = write_experiment(tmp_path / "model", "print('never')\n")
    refused = isolated("e", "create", str(config), str(config.parent))
    assert refused.returncode == 1
    assert "this machine has no address 127.0.0.1; bring its loopback up (ip link set lo up)" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.fixture
def other_file_system(tmp_path: Path) -> Iterator[tuple[Run, Path]]:
    """`det` with a HOME on a file system of its own, which the checkout and the temporary files do not share."""
    place = tmp_path / "mounted"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(place)], check=False)
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    run = run_in([], place)
    yield run, place
    run("master", "stop")
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("store", ["beside the master", "elsewhere"])
def test_a_home_on_another_file_system_holds_a_master_that_trains(
    other_file_system: tuple[Run, Path], tmp_path: Path, store: str
) -> None:
    run, home = other_file_system
    assert home.stat().st_dev not in (tmp_path.stat().st_dev, Path(__file__).stat().st_dev)
    (tmp_path / "store").mkdir()
    place = {"checkpoint_storage": {"type": "shared_fs", "host_path": str(tmp_path / "store")}}
    config = write_experiment(tmp_path / "model", SAVES, place if store == "elsewhere" else {})
    created = run("e", "create", str(config), str(config.parent), "-f")
    assert (created.returncode, "trained" in created.stdout) == (0, True), created.stdout + created.stderr
    [checkpoint] = json.loads(run("e", "list-checkpoints", "1", "--json").stdout)
    kept = run("checkpoint", "download", checkpoint["uuid"], "-o", str(tmp_path / "here"))
    assert kept.returncode == 0, kept.stderr
    assert (tmp_path / "here" / "weights").read_text() == "kept"
