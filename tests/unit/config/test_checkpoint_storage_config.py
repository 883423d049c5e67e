"""checkpoint_storage sections and shortcut strings."""

from typing import Any

import pytest

from determined.config import parse_checkpoint_storage
from determined.config.storage import place_problem
from determined.errors import InvalidConfig
from determined.storage.azure.config import Azure
from determined.storage.directory.config import Directory
from determined.storage.s3.config import S3
from determined.storage.shared_fs.config import SharedFS


def test_shared_fs_lies_under_its_host_path() -> None:
    plain = parse_checkpoint_storage({"type": "shared_fs", "host_path": "/data"})
    assert isinstance(plain, SharedFS)
    assert plain.base_path == "/data"
    assert (plain.save_experiment_best, plain.save_trial_best, plain.save_trial_latest) == (0, 1, 1)
    for path in ("cp", "/data/cp", "./x/../cp"):
        nested = parse_checkpoint_storage({"type": "shared_fs", "host_path": "/data", "storage_path": path})
        assert isinstance(nested, SharedFS) and nested.base_path == "/data/cp"


def test_a_host_path_of_root_contains_everything() -> None:
    assert (
        parse_checkpoint_storage({"type": "shared_fs", "host_path": "/", "storage_path": "a"}).raw["storage_path"]
        == "a"
    )


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/data2", "/"])
def test_storage_path_cannot_leave_host_path(path: str) -> None:
    with pytest.raises(InvalidConfig, match="must be a subdirectory"):
        parse_checkpoint_storage({"type": "shared_fs", "host_path": "/data", "storage_path": path})


def test_old_paths_of_shared_fs_are_accepted_and_unused() -> None:
    raw = {
        "type": "shared_fs",
        "host_path": "/d",
        "container_path": "/c",
        "checkpoint_path": "x",
        "tensorboard_path": "y",
    }
    assert isinstance(parse_checkpoint_storage(raw), SharedFS)


def test_secrets_stay_out_of_the_repr() -> None:
    s3 = parse_checkpoint_storage(
        {"type": "s3", "bucket": "b", "access_key": "AKIA", "secret_key": "hush", "prefix": "/a//b"}
    )
    assert isinstance(s3, S3) and s3.secret_key == "hush" and s3.prefix == "a/b"
    assert "hush" not in repr(s3) and "AKIA" not in repr(s3)
    azure = parse_checkpoint_storage({"type": "azure", "container": "c", "connection_string": "hush"})
    assert isinstance(azure, Azure) and "hush" not in repr(azure)


def test_directory_is_a_path_in_the_task() -> None:
    typed = parse_checkpoint_storage({"type": "directory", "container_path": "/ckpt"})
    assert isinstance(typed, Directory) and typed.container_path == "/ckpt"


@pytest.mark.parametrize(
    ("section", "key", "value", "instead"),
    [
        ({"type": "shared_fs", "host_path": "~/checkpoints"}, "host_path", "~/checkpoints", "echo ~/checkpoints"),
        ({"type": "shared_fs", "host_path": "~ada/my dir"}, "host_path", "~ada/my dir", "echo ~ada/'my dir'"),
        ({"type": "shared_fs", "host_path": "$HOME/c"}, "host_path", "$HOME/c", 'what `echo "$HOME/c"` prints'),
        ({"type": "shared_fs", "host_path": "$(id)/c"}, "host_path", "$(id)/c", "realpath -m '$(id)/c'"),
        ({"type": "shared_fs", "host_path": "relative/dir"}, "host_path", "relative/dir", "realpath -m relative/dir"),
        ({"type": "shared_fs", "host_path": " /data"}, "host_path", " /data", "realpath -m"),
        ({"type": "shared_fs", "host_path": ""}, "host_path", "", "realpath -m"),
        ({"type": "directory", "container_path": "rel/ckpt"}, "container_path", "rel/ckpt", "realpath -m rel/ckpt"),
        ({"type": "directory", "container_path": "~"}, "container_path", "~", "echo ~"),
    ],
)
def test_a_path_that_is_not_absolute_is_refused_with_what_to_write_instead(
    section: dict[str, Any], key: str, value: str, instead: str
) -> None:
    with pytest.raises(InvalidConfig) as refused:
        parse_checkpoint_storage(section)
    [said] = refused.value.violations
    assert said.startswith(f"<config>.checkpoint_storage.{key}: must be absolute, not `{value}`")
    assert instead in said
    assert place_problem(section) == said.removeprefix("<config>.")


def test_a_stored_section_is_judged_by_its_paths_alone() -> None:
    assert place_problem({"type": "shared_fs", "host_path": "/d", "container_path": "old"}) is None
    assert place_problem({"type": "s3", "bucket": "b"}) is None
    outside = place_problem({"type": "shared_fs", "host_path": "/d", "storage_path": "../x"})
    assert outside is not None and "checkpoint_storage.storage_path: must be a subdirectory" in outside
