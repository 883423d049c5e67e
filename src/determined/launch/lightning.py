"""`python3 -m determined.launch.lightning [[TORCHRUN OPTIONS...] --] SCRIPT...`: as `torch_distributed`, by whose
variables Lightning's Trainer knows that its ranks are there already."""

import sys

from determined.launch.torch_distributed import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
