"""Earlier place of `determined.launch.wrap_rank`."""

import sys

from determined.launch.wrap_rank import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
