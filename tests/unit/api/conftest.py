"""The small HTTP servers of these tests are imported by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from proving_peer import start

__all__ = ["start"]
