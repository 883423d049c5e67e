"""What Docker is asked for, from what a task asks for."""

from dataclasses import replace
from typing import Any

import pytest

from determined.engines.docker.container_spec import DEFAULT_SHM_BYTES, EngineValues, container_body, visible_devices
from determined.engines.model import Container, Device, DeviceNode, Launch, Mount
from determined.errors import FailedPrecondition

LAUNCH = Launch(
    allocation_id="1.t.1",
    resource_id="r",
    container_id="c",
    node_id="here",
    rank=0,
    slot_ids=(2, 3),
    device=Device.CPU,
    master_url="http://127.0.0.1:8080",
    token="a secret token",
    container=Container(image="pytorch:2", registry_auth={"password": "hidden"}),
)
PLACE = EngineValues(
    run_dir="/data/runs/r",
    image_id="sha256:1",
    labels={"determined.resource": "r"},
    user="1000:100",
    python="/opt/venv/bin/python",
    groups=("100", "44"),
    python_mounts=("/opt/python", "/opt/venv"),
    gpus=("GPU-a", "GPU-b"),
)


def asked(**changes: Any) -> Launch:
    """The launch with another container."""
    return replace(LAUNCH, container=Container(image="pytorch:2", **changes))


def mounts_of(body: dict[str, Any]) -> dict[str, tuple[str, bool, str]]:
    listed = body["HostConfig"]["Mounts"]
    assert len({one["Target"] for one in listed}) == len(listed)
    return {one["Target"]: (one["Source"], one["ReadOnly"], one["BindOptions"]["Propagation"]) for one in listed}


def test_runner_is_the_first_process_and_runs_as_the_user_of_the_task() -> None:
    body = container_body(LAUNCH, PLACE)
    assert body["Entrypoint"][0] == "/opt/venv/bin/python"
    assert body["Entrypoint"][-3:] == ["-m", "determined.exec.runner", "/data/runs/r"]
    assert (body["Cmd"], body["User"], body["Image"]) == ([], "1000:100", "sha256:1")
    assert body["HostConfig"]["GroupAdd"] == ["100", "44"]


def test_variables_of_an_image_for_its_own_python_do_not_reach_a_lent_one() -> None:
    """A PYTHONPATH of another version would take the runner's place of modules."""
    assert container_body(LAUNCH, PLACE)["Entrypoint"][1:3] == ["-E", "-P"]
    own = replace(PLACE, python_mounts=(), python="python3")
    assert container_body(LAUNCH, own)["Entrypoint"][:3] == ["python3", "-P", "-m"]


def test_image_cannot_make_its_user_root() -> None:
    """It may hold programs with the rights of root, and the directories of the machine are mounted as they are."""
    assert container_body(LAUNCH, PLACE)["HostConfig"]["SecurityOpt"] == ["no-new-privileges:true"]
    assert container_body(LAUNCH, replace(PLACE, user="0:0"))["HostConfig"]["SecurityOpt"] == []


def test_no_secret_is_shown_to_those_who_may_inspect_containers() -> None:
    said = str(container_body(LAUNCH, PLACE))
    assert "secret" not in said
    assert "hidden" not in said
    assert "hidden" not in repr(LAUNCH.container)


def test_run_directory_lies_at_its_own_path_and_where_tasks_of_containers_look() -> None:
    mounts = mounts_of(container_body(LAUNCH, PLACE))
    assert mounts["/data/runs/r"] == mounts["/run/determined"] == ("/data/runs/r", False, "rprivate")


def test_lent_python_cannot_be_written() -> None:
    mounts = mounts_of(container_body(LAUNCH, PLACE))
    assert mounts["/opt/venv"] == ("/opt/venv", True, "rprivate")
    assert "/opt/venv" not in mounts_of(container_body(LAUNCH, replace(PLACE, python_mounts=())))


def test_mounts_keep_their_propagation_and_protection() -> None:
    launch = asked(mounts=(Mount("/data", "/mnt/data", True, "rslave"), Mount("/x", "/mnt/y/../x")))
    mounts = mounts_of(container_body(launch, PLACE))
    assert mounts["/mnt/data"] == ("/data", True, "rslave")
    assert mounts["/mnt/x"] == ("/x", False, "rprivate")


@pytest.mark.parametrize("target", ["data/train", "./data/train", "/run/determined/workdir/data/train"])
def test_target_below_the_working_directory_is_mounted_beside_it(target: str) -> None:
    """The runner makes that directory anew: whatever was mounted inside would be emptied."""
    mounts = mounts_of(container_body(asked(mounts=(Mount("/data", target),)), PLACE))
    assert mounts["/run/determined-binds/data/train"] == ("/data", False, "rprivate")
    assert not any("workdir" in one for one in mounts)


@pytest.mark.parametrize("target", ["../data", "/run/determined", "/run/determined/workdir", "/run/determined/info"])
def test_target_that_would_harm_the_run_directory_is_refused(target: str) -> None:
    with pytest.raises(FailedPrecondition, match="bind mount target"):
        container_body(asked(mounts=(Mount("/data", target),)), PLACE)


def test_checkpoint_storage_is_found_where_core_and_where_everybody_else_looks() -> None:
    storage = Mount("/ckpt", "/ckpt", propagation="rshared")
    mounts = mounts_of(container_body(asked(shared_fs=storage), PLACE))
    assert mounts["/ckpt"] == mounts["/determined_shared_fs"] == ("/ckpt", False, "rshared")


def test_own_mount_of_a_task_counts_before_ours() -> None:
    launch = asked(mounts=(Mount("/fast", "/ckpt"),), shared_fs=Mount("/ckpt", "/ckpt"))
    assert mounts_of(container_body(launch, PLACE))["/ckpt"] == ("/fast", False, "rprivate")


def test_shared_memory_capabilities_devices_and_memory_are_as_asked() -> None:
    launch = asked(
        shm_bytes=123,
        add_capabilities=("SYS_PTRACE",),
        drop_capabilities=("MKNOD",),
        devices=(DeviceNode("/dev/fuse", "/dev/fuse", "rw"),),
    )
    host = container_body(launch, replace(PLACE, memory=2**30))["HostConfig"]
    assert (host["ShmSize"], host["CapAdd"], host["CapDrop"]) == (123, ["SYS_PTRACE"], ["MKNOD"])
    assert host["Devices"] == [{"PathOnHost": "/dev/fuse", "PathInContainer": "/dev/fuse", "CgroupPermissions": "rw"}]
    assert (host["Memory"], host["MemorySwap"]) == (2**30, 2**30)
    default = container_body(LAUNCH, PLACE)["HostConfig"]
    assert (default["ShmSize"], default["Memory"]) == (DEFAULT_SHM_BYTES, 0)


def test_task_on_gpus_gets_its_own_by_their_names_and_numbers_them_anew() -> None:
    launch = replace(LAUNCH, device=Device.CUDA)
    body = container_body(launch, PLACE)
    assert body["HostConfig"]["DeviceRequests"] == [{"DeviceIDs": ["GPU-a", "GPU-b"], "Capabilities": [["gpu"]]}]
    assert body["Env"] == []
    assert visible_devices(launch) == "0,1"


def test_task_without_gpus_sees_none_whatever_its_image_says() -> None:
    body = container_body(LAUNCH, PLACE)
    assert body["HostConfig"]["DeviceRequests"] == []
    assert body["Env"] == ["NVIDIA_VISIBLE_DEVICES=void"]
    assert visible_devices(LAUNCH) is None


def test_task_on_rocm_gets_the_device_files() -> None:
    host = container_body(replace(LAUNCH, device=Device.ROCM), PLACE)["HostConfig"]
    assert [one["PathOnHost"] for one in host["Devices"]] == ["/dev/kfd", "/dev/dri"]


def test_network_is_the_operators_unless_the_defaults_of_the_pool_name_one() -> None:
    launch = asked(ports=(8888,))
    host = container_body(launch, PLACE)
    assert (host["HostConfig"]["NetworkMode"], host["ExposedPorts"]) == ("host", {})
    away = replace(asked(ports=(8888,), network="bridge"), master_url="http://10.0.0.1:8080")
    bridged = container_body(away, PLACE)
    assert (bridged["HostConfig"]["NetworkMode"], bridged["ExposedPorts"]) == ("bridge", {"8888/tcp": {}})


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "https://localhost", "http://[::1]:8080"])
def test_network_without_a_way_to_the_master_is_refused_instead_of_tried_for_ever(url: str) -> None:
    launch = replace(asked(network="bridge"), master_url=url)
    with pytest.raises(FailedPrecondition, match=r"network 'bridge' cannot reach the master at .*advertised_url"):
        container_body(launch, PLACE)


def test_container_without_a_network_is_refused_whatever_the_masters_address_is() -> None:
    launch = replace(asked(network="none"), master_url="http://10.0.0.1:8080")
    with pytest.raises(FailedPrecondition, match=r"network 'none' cannot reach the master at http://10\.0\.0\.1:8080"):
        container_body(launch, PLACE)
    container_body(replace(launch, container=Container(image="x", network="container:vpn")), PLACE)
