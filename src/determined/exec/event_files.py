"""`python -m determined.exec.event_files DIRECTORY`: copies what a task wrote for TensorBoard and did not copy itself.

The runner starts it after the task's end, with the task's Python and variables.
"""

import logging
import sys
from pathlib import Path

from determined import storage
from determined.rundir.event_files import changed_files, read_ledger
from determined.tensorboard import TensorboardManager


def main(arguments: list[str]) -> int:
    """Copy the files. Status 0: all is copied. 1: something is not, and the last line of stderr says why."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m determined.exec.event_files DIRECTORY\n")
        return 2
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    ledger = read_ledger(Path(arguments[0]))
    if ledger is None:
        sys.stderr.write(f"nobody has noted where the files of {arguments[0]} go\n")
        return 2
    try:
        store = storage.build(ledger.to.storage, ledger.to.container_path)
    except Exception as err:  # noqa: BLE001  edge of this process: a driver may raise anything, and these are its words
        sys.stderr.write(f"the storage cannot be used: {err}\n")
        return 1
    TensorboardManager(ledger.directory, store, ledger.to.prefix, ledger=ledger).sync()
    return 1 if any(changed_files(ledger.directory, ledger.sent)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
