"""Owner of an event file: programs that run side by side in one directory must not get each other's metrics."""

import os
import re
from pathlib import Path

from determined.constants import ENV_RUN_DIR
from determined.exec.runner import process_tree
from determined.rundir.layout import RunDir
from determined.rundir.process_identity import stat_fields

_PID = re.compile(r"\.tfevents\.\d+\.(?P<host>.+)\.(?P<pid>\d+)\.\d+(?:\.|$)")


class EventOwner:
    """Judge of event files by the process id in their names. A judgement stays when the writer has ended.

    `owner`: the process that started the program; 0 where it is not known, then every file counts.
    """

    def __init__(self, run_dir: RunDir, owner: int) -> None:
        self._mark = str(run_dir.path)
        self._owner = owner
        self._judged: dict[Path, bool] = {}

    def is_ours(self, path: Path) -> bool:
        """Check whether the program or a descendant writes this file.

        A writer that has ended before the first look cannot be told from another: its file counts.
        """
        if path not in self._judged:
            self._judged[path] = self._judge(path)
        return self._judged[path]

    def _judge(self, path: Path) -> bool:
        pid = writer_of(path.name)
        fields = None if pid is None else stat_fields(pid)
        if not self._owner or pid is None or fields is None or fields[0] == "Z":
            return True
        # The variable marks daemons of the program too, which have another parent now.
        return pid in process_tree.descendants(self._owner) or pid in process_tree.marked(ENV_RUN_DIR, self._mark)


def writer_of(name: str) -> int | None:
    """Return the process of this machine that the name of an event file names; None where it names none."""
    match = _PID.search(name)
    if match is None or match["host"] != os.uname().nodename:
        return None
    return int(match["pid"])
