"""Tests of the wire's structs share two modules of this folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path
