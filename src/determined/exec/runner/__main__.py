"""`python -m determined.exec.runner RUN_DIR`."""

import gc
import sys


def run() -> None:
    # Until all is imported (main_loop.py): none of it is garbage, and looking for that is a tenth of a runner's start.
    gc.disable()
    from determined.exec.runner.main_loop import leave, main

    leave(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
