"""Mounts that one process and its children have for themselves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Becomes a user without rights (where it is root), gets a /tmp of its own, and shows who and where it is.
PROGRAM = """
import ctypes, os, sys
from determined.exec.runner import namespace
source, uid = sys.argv[1], int(sys.argv[2])
if os.geteuid() == 0 and uid != 0:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE, as after exec: else /proc/self is root's
try:
    namespace.enter([namespace.Mount(source, "/tmp")], "/tmp")
except OSError as e:
    sys.exit(f"not here: {e}")
os.execv("/bin/sh", ["sh", "-c", "id -u; id -g; touch mine; stat -c %u:%g /tmp/mine; pwd"])
"""


@pytest.mark.parametrize("uid", [0, 65533] if os.geteuid() == 0 else [os.geteuid()])
def test_process_has_a_tmp_of_its_own_and_stays_who_it_is(tmp_path: Path, uid: int) -> None:
    own = tmp_path / "own"
    own.mkdir()
    own.chmod(0o1777)
    for place in own.parents:
        if not place.stat().st_mode & 0o001:
            place.chmod(0o711)
    command = [sys.executable, "-c", PROGRAM, str(own), str(uid)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if "not here" in done.stderr:
        pytest.skip(done.stderr)
    gid = uid if os.geteuid() == 0 else os.getegid()
    assert done.stdout.split() == [str(uid), str(gid), f"{uid}:{gid}", "/tmp"], done.stderr
    assert (own / "mine").exists()
    assert not Path("/tmp/mine").exists()
