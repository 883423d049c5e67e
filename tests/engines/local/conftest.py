"""Lets the suites import the contracts and their rigs by bare name."""

import sys
from pathlib import Path

_TESTS = Path(__file__).parents[2]
sys.path[:0] = [str(_TESTS / "e2e"), str(_TESTS / "unit"), str(_TESTS / "contract"), str(Path(__file__).parent)]
