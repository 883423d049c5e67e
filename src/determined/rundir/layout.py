"""Layout of the files of one runner. Created private to its user (0700)."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunDir:
    """Directory of one runner (resource id). The engine writes launch.json; the rest is the runner's."""

    path: Path

    def create(self) -> None:
        """Make the directories; harmless when they exist."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for directory in (self.info, self.journals, self.userbase):
            directory.mkdir(mode=0o700, exist_ok=True)

    @property
    def lock(self) -> Path:
        """Lock file (rundir/lock.py), held as long as the runner lives."""
        return self.path / "lock"

    @property
    def pid(self) -> Path:
        """Process id of the newest runner, for people and for signals; whether it lives is told by the lock alone."""
        return self.path / "pid"

    @property
    def started(self) -> Path:
        """File that exists once hooks and entrypoint may have begun: nobody runs them a second time."""
        return self.path / "started"

    @property
    def done(self) -> Path:
        """File that is written last: everything is reported (or nobody wants it) and the directory may go."""
        return self.path / "done"

    @property
    def out_of_memory(self) -> Path:
        """File of an engine that knows that the kernel ended the runner for lack of memory."""
        return self.path / "out-of-memory"

    @property
    def launch(self) -> Path:
        """Launch file: wire.report.LaunchFile as JSON, 0600."""
        return self.path / "launch.json"

    @property
    def detached(self) -> Path:
        """File of a run outside of the cluster: rundir.detached.DetachedFile as JSON, 0600."""
        return self.path / "detached.json"

    @property
    def end(self) -> Path:
        """File of a run outside of the cluster that has ended: rundir.detached.RunEnd as JSON."""
        return self.path / "end.json"

    @property
    def canceled(self) -> Path:
        """File that exists once somebody has canceled or killed a run outside of the cluster."""
        return self.path / "canceled"

    @property
    def info(self) -> Path:
        return self.path / "info"

    @property
    def journals(self) -> Path:
        return self.path / "journals"

    @property
    def refused(self) -> Path:
        """A file for each checkpoint that the master did not take, named by its id: the reason."""
        return self.path / "refused"

    @property
    def uploaded(self) -> Path:
        """Directories that were stored as checkpoints, a line for each."""
        return self.path / "uploaded"

    @property
    def heartbeats(self) -> Path:
        """Signs of life of the training processes (rundir/heartbeat.py)."""
        return self.path / "heartbeats"

    @property
    def control(self) -> Path:
        return self.path / "control"

    @property
    def installer(self) -> Path:
        """Variables for installers of this node, as JSON, 0600: for programs that the task's Python lacks."""
        return self.path / "installer.json"

    @property
    def workdir(self) -> Path:
        return self.path / "workdir"

    @property
    def model(self) -> Path:
        """The context directory as it was submitted; user code works on its copy in `workdir`."""
        return self.path / "train" / "model"

    @property
    def runner_log(self) -> Path:
        return self.path / "runner.log"

    @property
    def userbase(self) -> Path:
        """Directory that `pip install` inside the task puts packages into."""
        return self.path / "userbase"

    @property
    def entrypoint(self) -> Path:
        """The shell text that sources the hooks and becomes the entrypoint."""
        return self.path / "train" / "entrypoint.sh"

    @property
    def hooks_done(self) -> Path:
        """A FIFO: the entrypoint shell says that every hook succeeded."""
        return self.path / "hooks-done"

    @property
    def hooks_go(self) -> Path:
        """A FIFO: the runner answers that rendezvous is complete."""
        return self.path / "hooks-go"

    @property
    def bin(self) -> Path:
        """Directory with the task's `pip`, and `python` and `python3` if the interpreter's own directory lacks them."""
        return self.path / "bin"

    @property
    def site(self) -> Path:
        """Directory with the `sitecustomize` of every Python of the task."""
        return self.path / "site"

    @property
    def linked_packages(self) -> Path:
        """Directory of links to our own packages, for an interpreter that cannot import determined."""
        return self.path / "linked-packages"

    @property
    def preload_list(self) -> Path:
        """File of a trial that a fork has run: the packages it has imported (rundir/preload.py)."""
        return self.path / "preload.json"

    @property
    def tmp_note(self) -> Path:
        """File (JSON) that names the task's own temporary directory, which is on the file system for such files."""
        return self.path / "tmp.json"

    def event_files(self, rank: int) -> Path:
        """Return the directory a rank writes to for TensorBoard; its ledger is beside it (rundir/event_files.py)."""
        return self.path / "tensorboard" / str(rank)
