"""Start of the entrypoint: by a fork where that gives the same as a new interpreter, and with a /tmp of its own."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from determined.exec.runner import command, preparation, private_tmp
from determined.exec.runner.log_sink import LogSink
from determined.exec.runner.namespace import Mount, NamespaceRefused
from determined.exec.runner.output import OutputPipes
from determined.exec.runner.preparation import Prepared
from determined.exec.runner.process import TaskProcess
from determined.rundir.layout import RunDir

if TYPE_CHECKING:
    from determined.exec.runner.forked.standby import Fork

logger = logging.getLogger(__name__)


class TaskStarter:
    """Starter of one task. `fork`: the standby of a runner that was forked itself."""

    def __init__(self, run_dir: RunDir, sink: LogSink, fork: "Fork | None") -> None:
        self._run_dir = run_dir
        self._sink = sink
        self._fork = fork

    def start(self, argv: list[str], variables: dict[str, str], prepared: Prepared, output: OutputPipes) -> TaskProcess:
        """Start the task, with a /tmp of its own where that can be had. Raises OSError."""
        tmp = prepared.tmp
        mounts = tmp.mounts if tmp is not None else ()
        own = tmp.variables(private=bool(mounts)) | variables if tmp is not None else variables
        command.keep_exported(self._run_dir, own)
        self._run_dir.started.write_text("{}")
        if tmp is not None and tmp.shared_because:
            self._sink.say("WARNING", private_tmp.tell_shared(tmp, tmp.shared_because))
        try:
            forked = self._forked(argv, own, prepared, output, mounts)
            return forked or TaskProcess.execute(argv, own, prepared.workdir, output, mounts)
        except NamespaceRefused as e:
            assert tmp is not None
            self._sink.say("WARNING", private_tmp.tell_shared(tmp, str(e)))
            for mount in filter(private_tmp.is_meant_for_tmp, prepared.spec.bind_mounts):
                self._sink.say("WARNING", preparation.not_mounted(mount))
            return self.start(argv, variables, replace(prepared, tmp=replace(tmp, mounts=())), output)

    def _forked(
        self,
        argv: list[str],
        variables: dict[str, str],
        prepared: Prepared,
        output: OutputPipes,
        mounts: Sequence[Mount],
    ) -> TaskProcess | None:
        """Start the task by a fork; None where it has to be executed."""
        fork, self._fork = self._fork, None
        if fork is None:
            return None
        # Here, because a cold runner does not need what it imports.
        from determined.exec.runner.forked.entrypoint import NotForkable
        from determined.exec.runner.forked.plan import is_wanted, plan

        try:
            if is_wanted(prepared.spec):
                start = plan(prepared, argv, variables, mounts, self._run_dir, fork.origin)
                return TaskProcess.fork(fork.standby, start, output)
        except NotForkable as e:
            if prepared.spec.is_first_run:
                self._sink.say("INFO", f"this trial starts a new interpreter (resources.warm): {e}")
        except OSError as e:
            logger.warning("%s; the entrypoint is executed", e)
        fork.standby.dismiss()
        return None
