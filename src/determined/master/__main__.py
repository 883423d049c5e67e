"""`python -m determined.master`."""

import gc
import sys


def run() -> int:
    # Nothing that is imported is garbage, and looking for it is a fifth of the imports' time. main() enables it.
    gc.disable()
    from determined.master.main import main

    return main()


if __name__ == "__main__":
    sys.exit(run())
