"""Entry of the delivery process."""

import sys

from determined.exec.detached.delivery import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
