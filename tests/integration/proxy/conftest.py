"""Fixtures of tests of the proxy: see proxy_ground.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path
sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))  # the engine that starts nothing lives there

from proxy_ground import ground, make_app, make_ground  # noqa: F401  fixtures
