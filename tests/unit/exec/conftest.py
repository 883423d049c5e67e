"""The peer whose proof is asked for is shared with the tests of api."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from proving_peer import start

__all__ = ["start"]
