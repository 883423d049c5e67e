"""`python preloaded.py MODULE...`: runs programs in children of a process that has imported the modules already.

Importing a framework takes most of a short training. A line of standard input describes a program, as `Job` writes it;
the answer is a line with its exit status.
"""

import importlib
import json
import os
import runpy
import sys
from pathlib import Path


def main(modules: list[str]) -> None:
    for name in modules:
        importlib.import_module(name)
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _run(**json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(arguments: list[str], directory: str, output: str, variables: dict[str, str], pauses: bool) -> None:
    """Do what `python ARGUMENTS` would; how it ends is how this process ends."""
    os.chdir(directory)
    os.environ.update(variables)
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if pauses:
        _pause_after_first_report()
    sys.path[0] = directory
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


def _pause_after_first_report() -> None:
    """Ask the task for its slots right after its first training metrics: at a certain place, in the middle."""
    from determined.core._metrics import MetricsContext
    from determined.rundir.control import Control
    from determined.rundir.layout import RunDir

    report = MetricsContext.report

    def report_and_pause(self: MetricsContext, group: str, *arguments: object) -> None:
        report(self, group, *arguments)
        if group == "training":
            Control.open(RunDir(Path(os.environ["DET_RUN_DIR"])).control).preempt = True

    MetricsContext.report = report_and_pause


if __name__ == "__main__":
    main(sys.argv[1:])
