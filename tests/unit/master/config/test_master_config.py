"""Master configs: upstream's keys from file, environment and flags."""

from typing import Any

import pytest

from determined.errors import InvalidConfig
from determined.master.config import MasterConfig, load_master_config
from determined.schema.text import parse_yaml


def load(file_data: dict[str, Any] | None = None, env: dict[str, str] | None = None, **flags: Any) -> MasterConfig:
    return load_master_config(file_data, env or {}, flags)


def test_no_config_at_all_is_a_master_on_loopback_with_one_pool() -> None:
    config = load()
    assert (config.host, config.port, config.db.address, config.launch_error) == ("127.0.0.1", 8080, None, True)
    assert [pool.pool_name for pool in config.pools] == ["default"]
    assert config.resource_manager.default_aux_resource_pool == "default"
    assert (config.pools[0].scheduler.type, config.pools[0].scheduler.default_priority) == (
        "priority",
        42,
    )
    assert config.security.initial_user_password is None
    assert config.ignored == {}
    assert config.pools == MasterConfig().pools


def test_flags_win_over_environment_over_file() -> None:
    file_data = {"port": 1, "cluster_name": "file", "db": {"host": "h", "user": "u"}}
    env = {"DET_PORT": "2", "DET_DB_USER": "v", "DET_CLUSTER_NAME": "env"}
    config = load_master_config(file_data, env, {"port": 3, "cluster_name": None, "db.name": "n"})
    assert (config.port, config.cluster_name) == (3, "env")
    assert config.db.address == "postgresql://v@h:5432/n?sslmode=disable"


def test_a_password_in_the_environment_stays_text() -> None:
    assert load(env={"DET_SECURITY_INITIAL_USER_PASSWORD": "0123"}).security.initial_user_password == "0123"


def test_a_task_environment_does_not_configure_a_master() -> None:
    assert load(env={"DET_MASTER": "http://x", "DET_DEBUG": "1", "DET_USER": "u"}).raw == load().raw


def test_lists_and_flags_in_the_environment_are_yaml() -> None:
    config = load(env={"DET_RESERVED_PORTS": "[1, 2]", "DET_LAUNCH_ERROR": "false"})
    assert (config.reserved_ports, config.launch_error) == ((1, 2), False)


def test_tls_moves_the_port() -> None:
    assert load({"security": {"tls": {"cert": "c", "key": "k"}}}).port == 8443
    assert load({"port": 9, "security": {"tls": {"cert": "c", "key": "k"}}}).port == 9


def test_a_database_may_be_a_url_or_parts() -> None:
    assert load({"db": "sqlite:////x.db"}).db.address == "sqlite:////x.db"
    assert load({"db": {"url": "postgresql://x"}}).db.address == "postgresql://x"
    parts = {
        "user": "a@b",
        "password": "p/w",
        "host": "h",
        "port": 1,
        "name": "n",
        "ssl_mode": "verify-ca",
        "ssl_root_cert": "/c",
    }
    assert load({"db": parts}).db.address == "postgresql://a%40b:p%2Fw@h:1/n?sslmode=verify-ca&sslrootcert=%2Fc"


def test_data_lies_with_the_user_who_runs_the_master() -> None:
    assert load(env={"HOME": "/home/u"}).data_dir == "/home/u/.local/share/determined/master"
    assert load(env={"HOME": "/home/u", "XDG_DATA_HOME": "/x"}).data_dir == "/x/determined/master"
    assert load(data_dir="/d").data_dir == "/d"
    assert load({"root": "/usr/share/determined/master"}, {"HOME": "/h"}).data_dir.startswith("/h/")


def test_pools_inherit_the_managers_scheduler_unless_they_have_their_own() -> None:
    config = load(
        parse_yaml(
            """
            resource_manager:
              type: agent
              scheduler: {type: fair_share, fitting_policy: worst}
              default_cpu_resource_pool: small
              default_gpu_resource_pool: big
            resource_pools:
              - pool_name: small
                max_cpu_containers_per_agent: 3
                agent_reconnect_wait: 1m
                task_container_defaults: {image: img, environment_variables: [A=1]}
              - pool_name: big
                description: many slots
                scheduler: {preemption: true, default_priority: 50}
                provider: {type: aws, max_instances: 3}
            """
        )
    )
    small, big = config.pools
    assert (small.scheduler.type, small.scheduler.fitting_policy) == ("fair_share", "worst")
    assert (small.max_aux_containers_per_agent, small.agent_reconnect_wait) == (3, 60.0)
    assert small.task_container_defaults is not None and small.task_container_defaults.image.cpu == "img"
    assert (big.scheduler.type, big.scheduler.preemption, big.scheduler.default_priority) == ("priority", True, 50)
    assert config.resource_manager.default_aux_resource_pool == "small"
    assert config.resource_manager.default_compute_resource_pool == "big"
    assert config.pool("big") is big and config.pool("none") is None
    assert set(config.ignored) == {
        "resource_pools[0].agent_reconnect_wait",
        "resource_pools[0].task_container_defaults.image",
        "resource_pools[1].provider",
    }


def test_the_first_pool_serves_where_none_is_called_default() -> None:
    config = load({"resource_pools": [{"pool_name": "a"}, {"pool_name": "b"}]})
    assert config.resource_manager.default_compute_resource_pool == "a"


def test_an_upstream_file_is_accepted_and_what_is_unused_is_remembered() -> None:
    config = load(
        parse_yaml(
            """
            checkpoint_storage: {type: shared_fs, host_path: /tmp, storage_path: determined-cp}
            logging: {type: default}
            log: {level: debug, color: true}
            telemetry: {enabled: false, segment_master_key: k}
            cache: {cache_dir: /var/cache}
            webhooks: {base_url: http://x, signing_key: s}
            security:
              authz: {type: basic}
              ssh: {rsa_key_size: 1024}
              default_task: {user: nobody, uid: 65534, group: nogroup, gid: 65534}
              token: {max_lifespan_days: -1, default_lifespan_days: 60}
            resource_manager: {type: agent, require_authentication: false, some_day: 1}
            feature_switches: [a]
            notebook_timeout: 900
            retention_policy: {log_retention_days: 90, schedule: "0 0 * * *"}
            observability: {enable_prometheus: false}
            """
        )
    )
    assert config.checkpoint_storage is not None and config.checkpoint_storage.save_trial_best == 1
    assert (config.security.default_task.user, config.security.default_task.uid) == ("nobody", 65534)
    assert (config.security.token.max_lifespan_days, config.security.token.default_lifespan_days) == (-1, 60)
    assert (config.telemetry.enabled, config.observability.enable_prometheus, config.log.level) == (
        False,
        False,
        "debug",
    )
    assert (config.notebook_timeout, config.retention_policy.log_retention_days) == (900, 90)
    assert (config.webhooks.base_url, config.webhooks.signing_key, config.webhooks.allow_public) == (
        "http://x",
        "s",
        True,
    )
    assert set(config.ignored) == {
        "logging", "log.color", "cache", "security.authz", "resource_manager.require_authentication",
        "resource_manager.some_day", "telemetry.segment_master_key", "feature_switches",
    }  # fmt: skip


def test_keys_of_upstreams_pools_and_of_its_slurm_launcher_are_accepted_and_named() -> None:
    launcher = {"type": "slurm", "slot_type": "cpu", "launcher_jvm_args": "-Xmx1g", "tres_supported": False}
    pool = {"pool_name": "a", "agent_reattach_enabled": True, "partition": "p"}
    defaults = {
        "pbs": {"slots_per_node": 2},
        "slurm": {"gpu_type": "x"},
        "cpu_pod_spec": {"spec": {"nodeName": "n"}},
        "image": "i",
    }
    data = {
        "resource_manager": launcher,
        "resource_pools": [pool],
        "task_container_defaults": defaults,
        "webhooks": {"base_url": "u"},
        "notebook_timeout": 5,
        "tensorboard_timeout": 300,
    }
    assert set(load_master_config(data, {}, {}).ignored) == {
        "resource_manager.launcher_jvm_args", "resource_manager.tres_supported",
        "resource_pools[0].agent_reattach_enabled", "task_container_defaults.pbs",
        "task_container_defaults.cpu_pod_spec", "task_container_defaults.image",
    }  # fmt: skip
    local = {**data, "resource_manager": {"type": "agent"}}
    assert {"resource_pools[0].partition", "task_container_defaults.slurm"} <= set(
        load_master_config(local, {}, {}).ignored
    )


@pytest.mark.parametrize(
    ("file_data", "message"),
    [
        ({"prot": 1}, "<config>: additional property `prot` not allowed; did you mean `port`?"),
        ({"port": 70000}, "<config>.port: must be at most 65535"),
        ({"security": {"tls": {"cert": "c"}}}, "<config>.security.tls: `cert` and `key` must both be given"),
        ({"security": {"token": {"max_lifespan_days": 5}}}, "default_lifespan_days=30 exceeds max_lifespan_days=5"),
        ({"security": {"token": {"default_lifespan_days": -1}}}, "default_lifespan_days=-1 exceeds"),
        ({"security": {"ssh": {"key_type": "DSA"}}}, "key_type: must be one of ED25519, ECDSA, RSA"),
        ({"resource_manager": {"scheduler": {"type": "lottery"}}}, "must be one of priority, fair_share, round_robin"),
        ({"resource_manager": {"scheduler": {"fitting_policy": "x"}}}, "must be one of best, worst"),
        ({"resource_manager": {"default_aux_resource_pool": "x"}}, "no pool `x`; pools are default"),
        ({"resource_pools": [{"pool_name": "a"}, {"pool_name": "a"}]}, "`a` is given to more than one pool"),
        ({"resource_pools": [{}]}, "resource_pools[0]: `pool_name` is a required property"),
        ({"resource_pools": [{"pool_name": "a", "agent_reconnect_wait": "5"}]}, "is not a duration"),
        (
            {"resource_pools": [{"pool_name": "a", "provider": {"min_instances": 9}}]},
            "max_instances=5 is below min_instances=9",
        ),
        ({"checkpoint_storage": {"type": "s3"}}, "<config>.checkpoint_storage: `bucket` is a required property"),
        ({"task_container_defaults": {"shm_size_bytes": 0}}, "shm_size_bytes: must be at least 1"),
        ({"task_container_defaults": {"imge": 0}}, "did you mean `image`?"),
        ({"db": {"port": "x"}}, "<config>.db.port: must be an integer"),
        ({"resource_pools": "x"}, "<config>.resource_pools: must be a list"),
        ({"security": []}, "<config>.security: must be a mapping"),
    ],
)
def test_a_wrong_master_config_is_refused_at_its_path(file_data: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        load(file_data)
    assert message in caught.value.message


def test_secrets_do_not_show_in_the_repr() -> None:
    config = load({"db": {"host": "h", "password": "hush"}, "security": {"initial_user_password": "hush"}})
    assert "hush" not in repr(config)


def test_networks_that_webhooks_may_call_are_checked() -> None:
    config = load({"webhooks": {"allowed_networks": ["10.0.0.0/8", "fd00::/8"], "allow_public": False}})
    assert (config.webhooks.allowed_networks, config.webhooks.allow_public) == (("10.0.0.0/8", "fd00::/8"), False)
    for wrong in ("10.0.0.1/8", "everything", "10.0.0.0/99"):
        with pytest.raises(InvalidConfig, match="is no network such as"):
            load({"webhooks": {"allowed_networks": [wrong]}})
