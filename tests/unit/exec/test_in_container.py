"""What a runner inside a container does otherwise."""

import os
from pathlib import Path

import pytest

from determined.exec.runner import environment, in_container, recovery
from determined.rundir.layout import RunDir
from determined.wire.report import BindMount


def test_only_mounts_below_the_working_directory_are_linked() -> None:
    mounts = [
        BindMount(host_path="/a", container_path="data"),
        BindMount(host_path="/b", container_path="/run/determined/workdir/more/data", read_only=True),
        BindMount(host_path="/c", container_path="/mnt/c"),
    ]
    found = [(one.host_path, one.container_path, one.read_only) for one in in_container.linked(mounts)]
    assert found == [
        ("/run/determined-binds/data", "data", False),
        ("/run/determined-binds/more/data", "more/data", False),
    ]


def test_python_of_the_image_is_the_first_on_its_path(tmp_path: Path) -> None:
    program = tmp_path / "python3"
    assert in_container.python_of_image(str(tmp_path)) is None
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert in_container.python_of_image(f"/nowhere{os.pathsep}{tmp_path}") == str(program)


def test_variables_of_an_image_are_its_tasks_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", "/usr/local/cuda")
    assert "CUDA_HOME" not in environment.inherited()
    assert environment.inherited(whole=True)["CUDA_HOME"] == "/usr/local/cuda"


def test_end_for_lack_of_memory_is_labelled(tmp_path: Path) -> None:
    run_dir = RunDir(tmp_path)
    assert recovery.label(run_dir) == ""
    run_dir.out_of_memory.touch()
    assert recovery.label(run_dir) == "Host OOM"
