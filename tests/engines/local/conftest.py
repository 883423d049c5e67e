"""Lets the suite import the contract and its rig by bare name."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / "contract"), str(Path(__file__).parent)]
