"""Puts what these tests share on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path
