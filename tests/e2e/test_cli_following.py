"""The real `det` process: followed logs, Ctrl-C, terminals, `--test-mode`, `--local`, files and overrides."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from cluster import HANG_SECONDS, Client, Cluster, clean_environment, det, eventually, write_experiment

DET = str(Path(sys.executable).with_name("det"))
SLOW = """
import pathlib, sys, time
print("begun", flush=True)
deadline = time.monotonic() + 300
while not pathlib.Path(sys.argv[1]).exists() and time.monotonic() < deadline:
    time.sleep(0.05)
print("let go", flush=True)
"""


def _env(home: Path, master: str) -> dict[str, str]:
    return clean_environment(DET_MASTER=master, HOME=str(home), DET_DEBUG_CONFIG_PATH=str(home / "config"))


def _read_until(fd: int, text: str, seconds: float = HANG_SECONDS) -> str:
    deadline, received = time.monotonic() + seconds, b""
    while text.encode() not in received:
        assert time.monotonic() < deadline, f"no {text!r} in {received!r}"
        if select.select([fd], [], [], 0.2)[0]:
            piece = os.read(fd, 4096)
            assert piece, f"it ended after {received!r}"
            received += piece
    return received.decode()


def test_ctrl_c_while_following_ends_with_3_and_the_experiment_goes_on(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    config = write_experiment(tmp_path / "m", SLOW, {"entrypoint": f"python3 train.py {gate}"})
    following = subprocess.Popen(
        [DET, "e", "create", str(config), str(config.parent), "-f"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_env(home, cluster.url),
    )
    assert following.stdout is not None
    # the line is here while the script still waits: nothing holds back what a pipe follows
    seen = _read_until(following.stdout.fileno(), "begun")
    following.send_signal(signal.SIGINT)
    _, err = following.communicate(timeout=HANG_SECONDS)
    experiment = int(re.findall(r"Created experiment (\d+)", seen)[0])
    trial = client.trials(experiment)[0]["id"]
    assert following.returncode == 3
    assert f"det trial logs -f {trial}" in err.decode()
    assert "Traceback" not in err.decode()
    gate.touch()
    assert client.wait_state(experiment, "COMPLETED", "ERROR") == "COMPLETED"


def test_a_followed_log_outlives_its_master_and_shows_each_line_once(
    cluster: Cluster, home: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    config = write_experiment(tmp_path / "m", SLOW, {"entrypoint": f"python3 train.py {gate}"})
    following = subprocess.Popen(
        [DET, "e", "create", str(config), str(config.parent), "-f"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_env(home, cluster.url),
    )
    assert following.stdout is not None
    seen = _read_until(following.stdout.fileno(), "begun")
    for end in (cluster.kill, cluster.stop):
        end()
        cluster.start()
    gate.touch()
    out, err = following.communicate(timeout=HANG_SECONDS)
    assert following.returncode == 0, err
    whole = seen + out.decode()
    assert (whole.count("begun"), whole.count("let go")) == (1, 1)
    assert "The master went away" in err.decode()
    assert "Trial log stream ended" in whole


def test_the_pipes_reader_may_leave_early(cluster: Cluster, home: Path) -> None:
    command = f"{DET} e ls -a | head -c 1; echo status ${{PIPESTATUS[0]}}"
    env = _env(home, cluster.url)
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=env, check=True)
    assert "status 0" in done.stdout
    assert done.stderr == ""


def _on_a_terminal(home: Path, master: str, *words: str) -> tuple[int, str]:
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(DET, [DET, *words], {**_env(home, master), "TERM": "xterm-256color", "NO_COLOR": ""})
    received = b""
    while True:
        try:
            piece = os.read(fd, 4096)
        except OSError:
            break
        if not piece:
            break
        received += piece
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), received.decode()


def test_a_terminal_sees_a_bar_while_a_large_context_is_sent_and_colours_on_errors(
    cluster: Cluster, home: Path, tmp_path: Path
) -> None:
    config = write_experiment(tmp_path / "m", "print('hello')", {"name": "large"})
    (tmp_path / "m" / "data.bin").write_bytes(os.urandom(3 * 1024 * 1024))
    status, out = _on_a_terminal(home, cluster.url, "e", "create", str(config), str(tmp_path / "m"), "--paused")
    assert status == 0, out
    assert "Sending files" in out
    assert "Created experiment" in out
    status, out = _on_a_terminal(home, cluster.url, "e", "describe", "999999")
    assert status == 1
    assert "\x1b[31mFailed to describe experiment: experiment 999999 not found" in out
    piped = det(home, "e", "create", str(config), str(tmp_path / "m"), "--paused", master=cluster.url)
    assert "Sending files" not in piped.stdout + piped.stderr


def test_test_mode_validates_and_tries_the_code(cluster: Cluster, home: Path, tmp_path: Path) -> None:
    good = write_experiment(tmp_path / "good", "print('fine')")
    done = det(home, "e", "create", str(good), str(good.parent), "--test", master=cluster.url)
    assert "Validating config: ok" in done.stdout
    assert "test succeeded" in done.stdout
    bad = write_experiment(tmp_path / "bad", "raise SystemExit(1)")
    done = det(home, "e", "create", str(bad), str(bad.parent), "-t", master=cluster.url, check=False)
    assert done.returncode == 1
    assert "det experiment logs" in done.stderr


def test_local_runs_the_entrypoint_here_without_a_master(home: Path, tmp_path: Path) -> None:
    config = write_experiment(tmp_path / "m", "import os; print('in', os.getcwd()); raise SystemExit(4)")
    done = det(home, "e", "create", "--local", str(config), str(config.parent), check=False)
    assert f"in {tmp_path / 'm'}" in done.stdout
    assert done.returncode == 4
    assert not (home / "data").exists(), "no master was started"


def test_includes_overrides_and_detignore_reach_the_task(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    script = "import os; print('files', sorted(os.listdir('.')), open('extra/x.txt').read())"
    config = write_experiment(tmp_path / "m", script)
    (tmp_path / "m" / "secret.txt").write_text("no")
    (tmp_path / "m" / "kept.log").write_text("yes")
    (tmp_path / "m" / ".detignore").write_text("secret.txt\n*.log\n!kept.log\n")
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "x.txt").write_text("included")
    flags = ["-i", str(tmp_path / "extra"), "--config", "name=overridden", "--config", "labels=a,b"]
    done = det(home, "e", "create", str(config), str(tmp_path / "m"), *flags, "-f", master=cluster.url)
    assert "files ['config.yaml', 'extra', 'kept.log', 'train.py'] included" in done.stdout
    experiment = int(re.findall(r"Created experiment (\d+)", done.stdout)[0])
    found = client.get(f"/api/v1/experiments/{experiment}")["experiment"]
    assert (found["name"], sorted(found["labels"])) == ("overridden", ["a", "b"])


def test_a_failed_trial_ends_the_following_with_1(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    config = write_experiment(tmp_path / "m", "raise SystemExit(1)")
    done = det(home, "e", "create", str(config), str(config.parent), "-f", master=cluster.url, check=False)
    assert done.returncode == 1
    assert "the entrypoint exited with status 1" in done.stderr
    experiment = re.findall(r"Created experiment (\d+)", done.stdout)[0]
    waited = det(home, "e", "wait", experiment, "--polling-interval", "0.1", master=cluster.url, check=False)
    assert waited.returncode == 1
    eventually(lambda: client.state(int(experiment)) == "ERROR")
