"""`python -m determined.cli` is `det`, as scripts of older releases start it."""

import sys

from determined.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
