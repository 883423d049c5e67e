"""Preflight between network namespaces: addresses that differ, and one that swallows what it is sent."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

NODE = Path(__file__).with_name("preflight_node.py")
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")


@dataclass(frozen=True, slots=True)
class Link:
    """Two namespaces joined by a pair of interfaces."""

    names: tuple[str, str]
    interfaces: tuple[str, str]
    addresses: tuple[str, str] = ("10.213.7.1", "10.213.7.2")


@pytest.fixture
def link() -> Iterator[Link]:
    tag = uuid.uuid4().hex[:6]
    made = Link((f"dt{tag}a", f"dt{tag}b"), (f"v{tag}a", f"v{tag}b"))
    try:
        for name in made.names:
            ip("netns", "add", name)
        ip("link", "add", made.interfaces[0], "netns", made.names[0], "type", "veth",
           "peer", "name", made.interfaces[1], "netns", made.names[1])  # fmt: skip
        for name, interface, address in zip(made.names, made.interfaces, made.addresses, strict=True):
            ip("-n", name, "address", "add", f"{address}/24", "dev", interface)
            ip("-n", name, "link", "set", interface, "up")
            ip("-n", name, "link", "set", "lo", "up")
    except (OSError, subprocess.CalledProcessError) as e:
        pytest.skip(f"no network namespaces here: {e}")
    yield made
    for name in made.names:
        subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def both(link: Link, directory: Path, reach_seconds: float) -> list[str]:
    """Return what each node said. `reach_seconds`: how long it tries to reach the other."""
    nodes = []
    for rank, name in enumerate(link.names):
        command = [sys.executable, str(NODE), str(rank), str(directory), str(reach_seconds), *link.addresses]
        run = ["ip", "netns", "exec", name, *command]
        nodes.append(subprocess.Popen(run, stdout=subprocess.PIPE, text=True))
    return [node.communicate(timeout=100)[0] for node in nodes]


def took(said: str) -> float:
    return float(said.split("took ")[1])


def test_nodes_that_reach_each_other_are_let_through(link: Link, tmp_path: Path) -> None:
    for said in both(link, tmp_path, 40):
        assert "2 nodes reach each other" in said, said


def test_a_network_that_swallows_packets_is_named_by_host_address_and_interface_on_both_nodes(
    link: Link, tmp_path: Path
) -> None:
    # Node 1 sends what is for the chief to nobody: no refusal comes back, as behind a firewall.
    ip("-n", link.names[1], "neigh", "add", link.addresses[0], "lladdr", "02:00:00:00:00:77", "dev",
       link.interfaces[1], "nud", "permanent")  # fmt: skip
    said = both(link, tmp_path, 3)
    verdicts = [next(line for line in one.splitlines() if line.startswith("FAILED")) for one in said]
    assert verdicts[0] == verdicts[1]
    assert "rank 1) cannot reach node-0" in verdicts[0]
    assert f"{link.addresses[0]}:" in verdicts[0] and f"(interface {link.interfaces[0]})" in verdicts[0]
    assert max(took(one) for one in said) < 60, "as long as TCP itself tries"
