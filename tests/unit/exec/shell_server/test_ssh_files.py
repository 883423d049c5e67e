"""SFTP and scp, by OpenSSH's clients."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from shell_rig import TASK, TIMEOUT, ShellRig

SIZE = 32 * 1024 * 1024


@pytest.fixture
def rig(shared_rig: ShellRig) -> ShellRig:
    """The server of all tests here."""
    return shared_rig


def copy(rig: ShellRig, *words: str) -> None:
    subprocess.run(["scp", *rig.options(), *words], check=True, timeout=TIMEOUT, capture_output=True)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.write_bytes(os.urandom(1024 * 1024) * (SIZE // (1024 * 1024)))
    return path


def test_sftp_brings_32_mib_there_and_back(rig: ShellRig, data: Path) -> None:
    back = data.with_name("back")
    batch = f"put {data} there\nls -l there\nget there {back}\nrm there\n".encode()
    words = ["sftp", "-b", "-", *rig.options(), f"root@{TASK}"]
    done = subprocess.run(words, input=batch, capture_output=True, check=True, timeout=TIMEOUT)
    assert str(SIZE).encode() in done.stdout
    assert back.read_bytes() == data.read_bytes() and not (rig.home / "there").exists()


@pytest.mark.parametrize("protocol", [(), ("-O",)], ids=["by SFTP", "by scp's own protocol"])
def test_scp_brings_files_there_and_back(rig: ShellRig, data: Path, protocol: tuple[str, ...]) -> None:
    copy(rig, *protocol, str(data), f"root@{TASK}:there")
    assert (rig.home / "there").read_bytes() == data.read_bytes()
    copy(rig, *protocol, f"root@{TASK}:there", str(data.with_name("back")))
    assert data.with_name("back").read_bytes() == data.read_bytes()


def test_scp_keeps_modes_and_folders(rig: ShellRig, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "sub" / "run.sh").chmod(0o750)
    copy(rig, "-rp", str(folder), f"root@{TASK}:copied")
    assert (rig.home / "copied/sub/run.sh").stat().st_mode & 0o777 == 0o750


def test_a_file_that_is_not_there_is_an_error(rig: ShellRig, tmp_path: Path) -> None:
    words = ["scp", *rig.options(), f"root@{TASK}:missing", str(tmp_path)]
    done = subprocess.run(words, check=False, timeout=TIMEOUT, capture_output=True)
    assert done.returncode == 1 and b"No such file" in done.stderr


def test_rsync_copies_a_folder(rig: ShellRig, tmp_path: Path) -> None:
    if shutil.which("rsync") is None:
        pytest.skip("there is no rsync here")
    (tmp_path / "a").write_text("text")
    transport = subprocess.list2cmdline(["ssh", *rig.options()])
    words = ["rsync", "-a", "-e", transport, f"{tmp_path}/", f"root@{TASK}:synced/"]
    subprocess.run(words, check=True, timeout=TIMEOUT)
    assert (rig.home / "synced/a").read_text() == "text"
