"""Entry of the delivery process. What is started ends at once; its child delivers.

So the delivery is no child of the run: a worker of Ray kills its children with SIGKILL when it ends.
"""

import os
import sys

if __name__ == "__main__":
    if os.fork():  # before the imports: whoever started us waits
        os._exit(0)
    from determined.exec.detached.delivery import main

    sys.exit(main(sys.argv[1:]))
