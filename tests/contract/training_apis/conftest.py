"""Lets the suite import its own parts, and the task of tests/unit, by bare name."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "unit")]
