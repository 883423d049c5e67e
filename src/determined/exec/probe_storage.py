"""`python -m determined.exec.probe_storage`: tries the `checkpoint_storage` section that it is given on stdin, as JSON.

The runner starts it before the task, with the task's Python and variables.
"""

import json
import sys

# Not 1 or 2: a Python that cannot run this at all (too old, or another release of ours) ends with those.
UNUSABLE, NO_DRIVER = 81, 82


def main() -> int:
    """Write, read and delete a file there.

    Status 0: done. UNUSABLE, NO_DRIVER: the last line of stdout says why not.
    """
    from determined.storage import probe

    try:
        probe(json.load(sys.stdin))
    except ImportError as err:
        return _tell(err, NO_DRIVER)
    except Exception as err:  # noqa: BLE001  edge of this process: a driver may raise anything, and these are its words
        return _tell(err, UNUSABLE)
    return 0


def _tell(err: Exception, status: int) -> int:
    """Print the error on stdout and return `status`. On stderr drivers complain of open connections at the very end."""
    words = " ".join(f"{err}".split()) or type(err).__name__
    sys.stdout.buffer.write(words.encode(errors="backslashreplace") + b"\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
