"""Run of `det run`: register a trial, run the program beside its delivery process, tell how it ended."""

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from determined._json import JsonObject
from determined.api.session import Session
from determined.cli import environment
from determined.cli.tracking import provenance, run_info
from determined.cli.tracking.argv_hparams import hparams_of
from determined.cli.tracking.program import Ending, Program
from determined.cli.tracking.relay import Relay
from determined.cli.tracking.stdout_metrics import read_line
from determined.constants import ENV_MASTER, ENV_RUN_DIR
from determined.core.detached import context, directory
from determined.core.detached.directory import DeliveryProcess
from determined.core.detached.experiment import ExperimentRequest, experiment_config, storage_section
from determined.core.detached.registration import Registered, cluster_info, register
from determined.errors import DeterminedError, FailedPrecondition
from determined.rundir.control import Control
from determined.rundir.detached import RunEnd
from determined.rundir.journal import JournalWriter
from determined.rundir.layout import RunDir
from determined.rundir.line_journal import LineJournal
from determined.rundir.log_line_parser import Line
from determined.wire.codec import to_msgpack
from determined.wire.report import MetricReport
from determined.wire.run import GET_RUN_METADATA, POST_RUN_METADATA, PostRunMetadataRequest

_PROVENANCE_SECONDS = 10.0  # for git and the list of packages after the end of a short program


@dataclass(frozen=True, slots=True)
class Result:
    """End of the program, and whether the master has been told everything."""

    ending: Ending
    state: str
    is_delivered: bool


class TrackedRun:
    """A program that has a trial. `event_directories`: where TensorBoard files are looked for."""

    def __init__(
        self, session: Session, command: Sequence[str], wanted: ExperimentRequest, event_directories: Sequence[str]
    ) -> None:
        self._session = session
        self._command = list(command)
        section = storage_section(None, context.default_storage())
        self.registered: Registered = register(session, wanted, experiment_config(wanted, section))
        self._run_dir = directory.create(
            session, self.registered.trial_id, self.registered.run_id, event_directories=event_directories
        )
        run_info.write(self._run_dir, cluster_info(session, self.registered))

    def run(self) -> Result:
        """Run the program to its end. Raises OSError where it cannot be started; the trial then failed."""
        delivery = DeliveryProcess(self._run_dir)
        delivery.start()
        metrics = PrintedMetrics(self._run_dir)
        relay = Relay(LineJournal(self._run_dir.journals), metrics.take)
        try:
            program = Program(self._command, self._variables(), relay)
        except OSError as e:
            delivery.finish(RunEnd(state="ERROR", message=f"the program could not be started: {e}"))
            raise
        sender = threading.Thread(target=self._send_provenance, name="provenance", daemon=True)
        sender.start()
        ending = program.wait(self._run_dir.canceled.exists)
        relay.finish()
        metrics.close()
        sender.join(_PROVENANCE_SECONDS)
        end = run_end_of(ending)
        return Result(ending, end.state, delivery.finish(end))

    def _variables(self) -> dict[str, str]:
        """Return the variables of the program: ours, with the trial that a core context in it joins."""
        changes = {ENV_RUN_DIR: str(self._run_dir.path), ENV_MASTER: self._session.master_url}
        return environment.with_environment(changes)

    def _send_provenance(self) -> None:
        """Send it while the program runs already, what is known at once first: git may look at many files."""
        here = Path.cwd()
        metadata = provenance.of_command(self._command, here)
        python = provenance.python_of(self._command)
        try:
            self._add_metadata(metadata)
            metadata["git"] = provenance.git_state(here, provenance.script_of(self._command))
            metadata["environment"] = provenance.packages(python) if python else None
            self._add_metadata({name: value for name, value in metadata.items() if value})
        except DeterminedError:
            return  # the master has gone meanwhile; the run itself matters more

    def _add_metadata(self, metadata: JsonObject) -> None:
        """Add to the metadata of the run; what the program has set by itself stays."""
        run_id = self.registered.trial_id
        own = self._session.call(GET_RUN_METADATA, run_id=run_id).metadata or {}
        self._session.call(POST_RUN_METADATA, PostRunMetadataRequest(metadata=metadata | own), run_id=run_id)


class PrintedMetrics:
    """Metrics that the program prints, into a journal. One that has a core context of its own reports by itself."""

    def __init__(self, run_dir: RunDir) -> None:
        self._run_dir = run_dir
        self._control = Control.open(run_dir.control)
        self._journal: JournalWriter | None = None

    def take(self, lines: list[Line]) -> None:
        """Read lines for metrics."""
        if self._control.attached:
            return
        for text, _, _ in lines:
            for reading in read_line(text):
                self._append(MetricReport(reading.group, reading.step, dict(reading.metrics), time.time()))

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def _append(self, report: MetricReport) -> None:
        try:
            if self._journal is None:
                self._journal = JournalWriter(self._run_dir.journals, f"printed-{os.getpid()}-{os.urandom(4).hex()}")
            self._journal.append(to_msgpack(report))
        except (OSError, FailedPrecondition):
            return  # a full disk; the program's own output goes on


def request_of(
    command: Sequence[str],
    name: str | None,
    labels: list[str],
    workspace: str | None,
    project: str | None,
    webhooks: list[str],
) -> ExperimentRequest:
    """Return the experiment and trial for a command. `webhooks`: names of those that its alerts go to."""
    return ExperimentRequest(
        name=name or default_name(command),
        hparams=hparams_of(command),
        labels=labels or None,
        workspace=workspace,
        project=project,
        integrations={"webhooks": {"webhook_name": webhooks}} if webhooks else None,
    )


def default_name(command: Sequence[str]) -> str:
    """Return the name of the script, or of the program where there is none."""
    return Path(provenance.script_of(command) or command[0]).name


def run_end_of(ending: Ending) -> RunEnd:
    """Return what the end of a program means for its trial."""
    if ending.is_canceled:
        return RunEnd(state="CANCELED", message=f"the program was stopped and has ended with status {ending.code}")
    state = "COMPLETED" if ending.code == 0 else "ERROR"
    return RunEnd(state=state, message=f"the program has ended with status {ending.code}")
