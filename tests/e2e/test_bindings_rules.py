"""Scripts that hold for the official client's bindings, run with ours on a cluster of their own."""

import sys
from pathlib import Path

import pytest
from test_official_rules import CONTINUED, PLACES, USERS, check_rules

from cluster import Cluster


@pytest.mark.parametrize("rules", [USERS, PLACES, CONTINUED], ids=["users", "places", "continued"])
def test_a_script_of_the_official_client_runs_with_our_bindings(cluster: Cluster, home: Path, rules: str) -> None:
    check_rules(rules, Path(sys.executable), cluster, home)
