"""Lets the suites of this folder import their shared parts by bare name (importlib mode adds no folder to the path)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
