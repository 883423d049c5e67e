"""What a fork server imports, what it refuses to share, and when it ends."""

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from fake_master import FakeMaster, eventually, trial
from forked_runner import ForkedRunnerUnderTest
from package_environment import SOURCE, PackageEnvironment, preload

import determined
from determined.engines.host.fork_server import ForkServer
from determined.rundir.layout import RunDir
from determined.rundir.lock import is_held
from determined.rundir.preload import PreloadList, decode
from determined.wire.report import ExitCause

WAITS = """
import os, time
print("begun", flush=True)
while not os.path.exists("../go"):
    time.sleep(0.02)
print("ended")
"""

Serve = Callable[[PreloadList | None], ForkServer]


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> PackageEnvironment:
    return PackageEnvironment(tmp_path_factory.mktemp("environment"))


@pytest.fixture
def serve(packages: PackageEnvironment, tmp_path: Path) -> Iterator[Serve]:
    servers: list[ForkServer] = []

    def serve(preload: PreloadList | None) -> ForkServer:
        servers.append(ForkServer(packages.python, preload, tmp_path / "server.log"))
        eventually(lambda: servers[-1].is_ready() or servers[-1].ended)
        return servers[-1]

    yield serve
    for server in servers:
        server.close()


@pytest.fixture
def make_trial(fake_master: FakeMaster, tmp_path: Path) -> Iterator[Callable[..., ForkedRunnerUnderTest]]:
    made: list[ForkedRunnerUnderTest] = []

    def make(
        server: ForkServer, program: str, *variables: str, entrypoint: str | list[str] = "python3 train.py"
    ) -> ForkedRunnerUnderTest:
        trial(fake_master, tmp_path)
        fake_master.journals.clear()
        fake_master.files = {"train.py": program}
        spec = fake_master.spec
        spec.entrypoint, spec.slot_counts, spec.address = entrypoint, [1], "127.0.0.1"
        spec.environment = list(variables)
        made.append(ForkedRunnerUnderTest(server, fake_master, tmp_path / f"run{len(made)}"))
        return made[-1]

    yield make
    for runner in made:
        runner.close()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import threading, time; threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()", "threads"),
        ("import os, time; os.fork() or (time.sleep(3), os._exit(0))", "starts processes"),
        ("import socket; left = socket.socket()", "leaves files or sockets open"),
        ("import signal; signal.signal(signal.SIGUSR1, lambda *_: None)", "changes the handling of signals"),
        (
            "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])",
            "changes the handling of signals",
        ),
        ("import os; os.umask(0)", "changes the umask"),
        ("import os; os.chdir('/tmp')", "changes the working directory"),
        ("import os, tempfile; os.rmdir(tempfile.mkdtemp())", "makes temporary files"),
    ],
)
def test_package_that_changes_the_process_is_named_and_not_shared(
    packages: PackageEnvironment, serve: Serve, text: str, why: str
) -> None:
    packages.write("decent", "")
    packages.write("changes", text)
    server = serve(preload("decent", "changes.deeper", "changes"))
    assert server.unsuitable is not None
    assert (server.unsuitable.module, why in server.unsuitable.why) == ("changes", True)
    assert serve(preload("decent", "changes").without({"changes"})).is_ready()


def test_package_that_opens_an_accelerator_is_not_shared(packages: PackageEnvironment, serve: Serve) -> None:
    """A file of that name in the maps of the process is what a driver leaves, whatever it is."""
    packages.write("decent", "")
    packages.write(
        "accelerated",
        "import determined.exec.fork_server.process_state as state\nstate._ACCELERATORS = ('/libc',)\n",
    )
    server = serve(preload("decent", "accelerated"))
    assert server.unsuitable is not None
    assert "an accelerator is in use" in server.unsuitable.why


def test_library_that_ends_its_threads_before_each_fork_is_shared() -> None:
    pytest.importorskip("numpy")
    server = ForkServer(sys.executable, preload("numpy"), Path("/dev/null"))
    try:
        eventually(lambda: server.is_ready() or server.ended)
        assert server.ended is None
        assert psutil.Process(server.pid).num_threads() == 1
    finally:
        server.close()


@pytest.mark.parametrize("entrypoint", ["python3 train.py", ["python3", "train.py"]], ids=str)
def test_trials_have_what_was_imported_and_nothing_else_of_it_is_theirs(
    packages: PackageEnvironment,
    entrypoint: str | list[str],
    serve: Serve,
    fake_master: FakeMaster,
    make_trial: Callable[..., ForkedRunnerUnderTest],
) -> None:
    packages.write("heavy", "import os\nos.environ['SET_BY_HEAVY'] = 'yes'\ncount = 0\nprint('imported')\n")
    program = (
        "import os, sys\nthere = 'heavy' in sys.modules\nimport heavy\nheavy.count += 1\n"
        "print(there, heavy.count, os.environ['SET_BY_HEAVY'], os.environ.get('MINE'))\n"
    )
    first = make_trial(serve(None), program, "MINE=1", entrypoint=entrypoint)
    assert first.start().finish().code == 0
    assert fake_master.texts() == ["imported", "False 1 yes 1"]
    note = decode(first.dir.preload_list.read_bytes())
    assert note is not None
    assert (note.modules, note.changed, note.variables["MINE"]) == (["heavy"], ["SET_BY_HEAVY"], "1")
    server = serve(note)
    for _ in range(2):
        next_one = make_trial(server, program, "MINE=1", entrypoint=entrypoint)
        assert next_one.start().finish().code == 0
        assert fake_master.texts() == ["True 1 yes 1"]
        assert not next_one.dir.preload_list.exists()


def test_trial_with_other_variables_starts_a_new_interpreter(
    packages: PackageEnvironment,
    serve: Serve,
    fake_master: FakeMaster,
    make_trial: Callable[..., ForkedRunnerUnderTest],
) -> None:
    packages.write("heavy", "print('imported')")
    program = "import heavy"
    first = make_trial(serve(None), program, "MINE=1")
    first.start().finish()
    note = decode(first.dir.preload_list.read_bytes())
    assert make_trial(serve(note), program, "MINE=2").start().finish().code == 0
    assert fake_master.texts() == ["imported"]
    fake_master.spec.is_first_run = True
    assert (
        "this trial starts a new interpreter (resources.warm): MINE is not what it was"
        in fake_master.texts("agent")[-1]
    )


def test_packages_are_not_shared_when_the_script_sets_what_they_may_read(
    packages: PackageEnvironment, serve: Serve, make_trial: Callable[..., ForkedRunnerUnderTest]
) -> None:
    packages.write("heavy", "")
    first = make_trial(serve(None), "import os; os.environ['OMP_NUM_THREADS'] = '1'; import heavy")
    first.start().finish()
    server = serve(decode(first.dir.preload_list.read_bytes()))
    assert server.unsuitable is not None
    assert server.unsuitable.why == "the script changes OMP_NUM_THREADS itself"


def test_only_packages_of_the_interpreter_are_imported(
    packages: PackageEnvironment,
    serve: Serve,
    fake_master: FakeMaster,
    make_trial: Callable[..., ForkedRunnerUnderTest],
    tmp_path: Path,
) -> None:
    """A list is only a file that a trial has written: names in it are looked for where packages are."""
    packages.write("broken", "raise RuntimeError('at import')")
    packages.write("decent", "")
    server = serve(preload("broken", "antigravity", "no_such_module", "train", "decent"))
    assert server.is_ready()
    names = "decent", "broken", "antigravity"
    make_trial(server, f"import sys; print([name in sys.modules for name in {names}])").start().finish()
    assert fake_master.texts()[-1:] == ["[False, False, False]"], "its variables differ, so it is a new interpreter"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda packages: packages.write("heavy", "version = 2"), "heavy/__init__.py has changed"),
        (lambda packages: packages.write("another", ""), "site-packages has changed"),
    ],
    ids=["edited", "installed"],
)
def test_server_ends_when_its_packages_change_on_disk(
    packages: PackageEnvironment,
    serve: Serve,
    change: Callable[[PackageEnvironment], object],
    why: str,
    tmp_path: Path,
) -> None:
    packages.write("heavy", "version = 1")
    shutil.rmtree(packages.packages / "another", ignore_errors=True)
    server = serve(preload("heavy"))
    change(packages)
    eventually(lambda: server.fork(_directory(tmp_path)) is None)
    assert server.ended is not None
    assert server.ended.endswith(why)
    assert serve(preload("heavy")).is_ready()


def _directory(tmp_path: Path) -> RunDir:
    run_dir = RunDir(tmp_path / "nothing-to-run")
    run_dir.path.mkdir(exist_ok=True)
    return run_dir


def test_trial_outlives_its_killed_server(
    serve: Serve, fake_master: FakeMaster, make_trial: Callable[..., ForkedRunnerUnderTest]
) -> None:
    server = serve(None)
    runner = make_trial(server, WAITS).start()
    eventually(lambda: fake_master.texts() == ["begun"])
    os.kill(server.pid, signal.SIGKILL)
    eventually(lambda: not server.is_ready())
    assert server.ended == "it is gone"
    (runner.dir.path / "go").touch()
    told = runner.finish()
    assert (told.cause, told.code, fake_master.texts()) == (ExitCause.EXITED, 0, ["begun", "ended"])


def test_trial_outlives_a_server_that_its_engine_ends(
    serve: Serve, fake_master: FakeMaster, make_trial: Callable[..., ForkedRunnerUnderTest]
) -> None:
    server = serve(None)
    runner = make_trial(server, WAITS).start()
    eventually(lambda: fake_master.texts() == ["begun"])
    server.close()
    assert not psutil.pid_exists(server.pid)
    (runner.dir.path / "go").touch()
    assert runner.finish().code == 0


def test_server_that_ends_by_itself_leaves_no_zombie(serve: Serve) -> None:
    server = serve(None)
    os.kill(server.pid, signal.SIGKILL)
    eventually(lambda: not psutil.pid_exists(server.pid))


def test_killed_runner_takes_the_forked_trial_along(
    serve: Serve, fake_master: FakeMaster, make_trial: Callable[..., ForkedRunnerUnderTest]
) -> None:
    """Also what the trial has left in another session, without starting another program."""
    program = (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    print(os.getpid(), flush=True)\ntime.sleep(1000)"
    )
    runner = make_trial(serve(None), program).start()
    eventually(fake_master.texts)
    strays = [*psutil.Process(runner.pid).children(recursive=True)]
    assert int(fake_master.texts()[0]) in {process.pid for process in strays}
    runner.kill()
    eventually(lambda: not any(process.is_running() and process.status() != "zombie" for process in strays))
    eventually(lambda: not is_held(runner.dir.lock))
    runner.start()
    told = runner.finish()
    assert told.cause is ExitCause.LOST


def test_killed_trial_is_reported(
    serve: Serve, fake_master: FakeMaster, make_trial: Callable[..., ForkedRunnerUnderTest]
) -> None:
    server = serve(None)
    told = make_trial(server, "import os; os.kill(os.getpid(), 9)").start().finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, 137)
    assert server.is_ready()


def test_server_of_another_directory_of_code_is_not_used(packages: PackageEnvironment, tmp_path: Path) -> None:
    """A master that runs from a checkout must not fork runners of an installed release."""
    other = PackageEnvironment(tmp_path / "other")
    copied = other.packages / "determined"
    shutil.copytree(SOURCE / "determined", copied, ignore=shutil.ignore_patterns("__pycache__"))
    server = ForkServer(other.python, None, tmp_path / "log")
    eventually(lambda: server.is_ready() or server.ended)
    assert server.ended == f"its interpreter imports another determined, {copied}"


def test_interpreter_without_our_code_serves_nothing(tmp_path: Path) -> None:
    server = ForkServer("/bin/false", None, tmp_path / "log")
    eventually(lambda: server.is_ready() or server.ended)
    assert server.ended == "it is gone"


def test_interpreter_that_is_missing_serves_nothing(tmp_path: Path) -> None:
    server = ForkServer(str(tmp_path / "no-python"), None, tmp_path / "log")
    assert server.ended is not None
    assert "it cannot be started" in server.ended


def test_server_that_says_something_else_for_ever_holds_no_launch(packages: PackageEnvironment, tmp_path: Path) -> None:
    """It is ready again and again, and never answers what it is asked."""
    python = tmp_path / "python"
    answer = f'{{"type":"ready","code":"{Path(determined.__file__).parent}"}}'
    flood = f"import socket, time\ns = socket.socket(fileno=0)\nwhile s.send(b'{answer}'): time.sleep(0.2)\n"
    (tmp_path / "flood.py").write_text(flood)
    python.write_text(f"#!/bin/sh\nexec {sys.executable} {tmp_path}/flood.py\n")
    python.chmod(0o700)
    server = ForkServer(str(python), None, tmp_path / "log")
    eventually(server.is_ready)
    assert server.fork(_directory(tmp_path)) is None
    assert server.ended == "it does not answer"


def test_many_forks_leave_nothing_behind(serve: Serve, tmp_path: Path) -> None:
    """Runners on a directory whose task is over leave at once."""
    server = serve(None)
    run_dir = _directory(tmp_path)
    run_dir.done.touch()
    process, engine = psutil.Process(server.pid), psutil.Process()
    idle = process.num_fds()

    def fork() -> None:
        runner = server.fork(run_dir)
        assert runner is not None
        runner.wait()
        assert not runner.poll()

    fork()
    eventually(lambda: process.num_fds() == idle)
    before = process.num_fds(), process.num_threads(), engine.num_fds(), process.memory_info().rss
    for _ in range(200):
        fork()
    # The server closes what it has sent after its answer.
    eventually(lambda: (process.num_fds(), process.num_threads(), engine.num_fds()) == before[:3])
    assert process.memory_info().rss - before[3] < 1 << 20
    eventually(lambda: process.children() == [])
