"""What a task asks of its container, from its config and the defaults of its pool."""

from typing import Any

from determined.config import overlay_container_defaults, prepare
from determined.config.container_defaults import TaskContainerDefaults
from determined.engines.model import DeviceNode, Mount
from determined.master.config import load_master_config
from determined.master.lifecycle.containers import of_defaults, of_experiment, runs_containers

DEFAULTS: dict[str, Any] = {"network_mode": "bridge", "shm_size_bytes": 77, "image": "default:1"}


def container(device: str = "cpu", defaults: dict[str, Any] | None = None, **user: Any) -> Any:
    config = prepare(
        {"entrypoint": "python3 train.py", "searcher": {"name": "single", "metric": "loss"}, **user},
        template=None,
        pool_tcd=None,
        cluster_tcd=defaults,
        workspace_storage=None,
        master_storage={"type": "shared_fs", "host_path": "/ckpt", "propagation": "rslave"},
        default_priority=42,
        invariants=[],
        seed=7,
        name="n",
        managed=True,
    ).config
    return of_experiment(config, device, TaskContainerDefaults.load(overlay_container_defaults(None, defaults)))


def test_image_is_that_of_the_device_and_login_and_pull_go_with_it() -> None:
    environment = {
        "image": {"cpu": "mine:cpu", "cuda": "mine:cuda"},
        "force_pull_image": True,
        "registry_auth": {"username": "u", "password": "hidden"},
        "environment_variables": ["NVIDIA_DRIVER_CAPABILITIES=compute", "TOKEN=hidden"],
    }
    found = container("cuda", environment=environment)
    assert (found.image, found.force_pull) == ("mine:cuda", True)
    assert found.registry_auth["password"] == "hidden"
    assert "hidden" not in repr(found)
    assert found.variables == ("NVIDIA_DRIVER_CAPABILITIES=compute",)
    assert container("cpu", environment=environment).image == "mine:cpu"
    assert container("rocm", environment=environment).image is None


def test_defaults_of_the_cluster_count_where_the_experiment_says_nothing() -> None:
    found = container(defaults=DEFAULTS)
    assert (found.image, found.shm_bytes, found.network) == ("default:1", 77, "bridge")
    own = container(defaults=DEFAULTS, environment={"image": "mine"}, resources={"shm_size": "1k"})
    assert (own.image, own.shm_bytes, own.network) == ("mine", 1024, "bridge")


def test_mounts_devices_capabilities_and_ports_are_handed_on() -> None:
    found = container(
        bind_mounts=[{"host_path": "/d", "container_path": "data", "read_only": True, "propagation": "rshared"}],
        resources={"devices": ["/dev/fuse:/dev/fuse:rw"]},
        environment={
            "add_capabilities": ["A"],
            "drop_capabilities": ["B"],
            "ports": {"web": 80},
            "proxy_ports": [{"proxy_port": 8888}],
        },
    )
    assert found.mounts == (Mount("/d", "data", True, "rshared"),)
    assert found.devices == (DeviceNode("/dev/fuse", "/dev/fuse", "rw"),)
    assert (found.add_capabilities, found.drop_capabilities, found.ports) == (("A",), ("B",), (80, 8888))


def test_task_without_a_config_has_the_defaults_of_its_pool() -> None:
    cluster = {
        "image": {"cpu": "aux:cpu", "gpu": "aux:cuda"},
        "force_pull_image": True,
        "registry_auth": {"username": "u"},
        "environment_variables": ["NVIDIA_DRIVER_CAPABILITIES=all", "TOKEN=hidden"],
        "bind_mounts": [{"host_path": "/d", "container_path": "data", "read_only": True}],
        "devices": ["/dev/fuse:/dev/fuse:rw"],
        "add_capabilities": ["A"],
        "drop_capabilities": ["B"],
    }
    defaults = overlay_container_defaults({"shm_size_bytes": 77, "network_mode": "bridge"}, cluster)
    found = of_defaults("cuda", TaskContainerDefaults.load(defaults))
    assert (found.image, found.force_pull, found.registry_auth) == ("aux:cuda", True, {"username": "u"})
    assert (found.mounts, found.devices) == (
        (Mount("/d", "data", True),),
        (DeviceNode("/dev/fuse", "/dev/fuse", "rw"),),
    )
    assert (found.add_capabilities, found.drop_capabilities) == (("A",), ("B",))
    assert (found.shm_bytes, found.network) == (77, "bridge")
    assert found.variables == ("NVIDIA_DRIVER_CAPABILITIES=all",)
    assert of_defaults("cpu", TaskContainerDefaults()).image is None


def test_storage_on_a_file_system_is_mounted_and_any_other_is_not() -> None:
    assert container().shared_fs == Mount("/ckpt", "/ckpt", propagation="rslave")
    assert container(checkpoint_storage={"type": "s3", "bucket": "b"}).shared_fs is None


def test_only_a_docker_engine_runs_containers() -> None:
    config = load_master_config({"resource_manager": {"type": "docker", "name": "boxes"}}, {}, {})
    assert runs_containers(config, "boxes")
    assert not runs_containers(config, "docker")
    assert not runs_containers(load_master_config({}, {}, {}), "local")
