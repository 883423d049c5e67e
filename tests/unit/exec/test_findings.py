"""Sentences of a preflight: which nodes differ in what, and what to do; the same on every node."""

import socket
from typing import Any

import pytest

from determined.exec.runner.preflight import findings, ports
from determined.exec.runner.preflight.facts import Facts, resolved


def facts(rank: int, **changes: Any) -> Facts:
    fields: dict[str, Any] = {"host": f"h{rank}", "node": f"n{rank}", "address": f"10.0.0.{rank}", "python": "3.11.7"}
    return Facts(**({"rank": rank} | fields | changes))


def told(*everyone: Facts, fatal: bool = True) -> list[tuple[str, bool]]:
    return [(one.text, one.fatal) for one in findings.skew(everyone, fatal=fatal)]


def test_nodes_that_are_alike_differ_in_nothing() -> None:
    versions = {"torch": "2.13.0", "numpy": "2.0"}
    assert told(facts(0, versions=versions), facts(1, versions=versions)) == []


def test_another_minor_version_of_python_is_fatal_and_another_patch_is_not() -> None:
    (minor,) = told(facts(0), facts(1, python="3.12.1"))
    assert minor == (
        "Python differs: 3.11 on n0 (host h0, rank 0), 3.12 on n1 (host h1, rank 1); use the same minor version on"
        " every node",
        True,
    )
    ((text, fatal),) = told(facts(0), facts(1, python="3.11.2"))
    assert text.startswith("Python differs: 3.11.7 on n0") and not fatal


@pytest.mark.parametrize(
    ("here", "there", "fatal"),
    [
        ({"torch": "2.13.0"}, {"torch": "2.12.0"}, True),
        ({"torch": "2.13.0+cu126"}, {"torch": "2.13.0+cpu"}, False),
        ({"torch": "2.13.0"}, {}, False),
        ({"numpy": "1.26"}, {"numpy": "2.0"}, False),
        ({"transformers": "4.50"}, {"transformers": "4.51"}, True),
    ],
)
def test_only_other_releases_of_frameworks_are_fatal(here: Any, there: Any, fatal: bool) -> None:
    ((text, is_fatal),) = told(facts(0, versions=here), facts(1, versions=there))
    assert is_fatal is fatal
    assert "differ" in text and next(iter(here)) in text


def test_nothing_is_fatal_where_the_task_may_not_use_that_python() -> None:
    versions = ({"torch": "2.13.0"}, {"torch": "2.12.0"})
    everyone = [facts(0, versions=versions[0]), facts(1, versions=versions[1], python="3.12.0")]
    assert {fatal for _, fatal in told(*everyone, fatal=False)} == {False}


def test_many_nodes_and_packages_are_counted_after_the_first_few() -> None:
    packages = {f"p{n}": "1" for n in range(11)}
    everyone = [facts(0, versions=packages), *(facts(n, versions=dict.fromkeys(packages, "2")) for n in range(1, 8))]
    ((text, _),) = told(*everyone)
    assert "2 on n1 (host h1, rank 1) and n2" in text and "and n4 (host h4, rank 4) and 3 more" in text
    assert text.count("p") >= 8 and text.endswith("; and 3 more")


def test_a_node_that_said_nothing_is_named_and_compared_with_nobody() -> None:
    ((text, fatal),) = told(facts(0, versions={"torch": "2.13.0"}), facts(1, python=None))
    assert text == "the Python of n1 (host h1, rank 1) did not answer: its packages are not compared"
    assert not fatal


@pytest.mark.parametrize(
    ("wanted", "is_there"),
    [
        ("eth0", True), ("eth", True), ("=eth0", True), ("ib0", False), ("ib0,eth", True), ("^lo", True), ("", True),
        (" eth0 ", True), ("^lo,ib", False), (",", True),
    ],
)  # fmt: skip
def test_interfaces_are_matched_by_prefix_as_nccl_does(wanted: str, is_there: bool) -> None:
    assert findings.is_present(wanted, ["lo", "eth0"]) is is_there


def test_an_interface_that_is_missing_is_told_with_those_that_are_there() -> None:
    text = findings.absent_interface("ib0", facts(1), ["lo", "eth0", "lo"]).text
    assert (
        text == "n1 (host h1, rank 1) has no network interface 'ib0', only eth0, lo; correct dtrain_network_interface"
    )


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost"])
def test_a_loopback_address_is_the_cause_only_between_hosts(address: str) -> None:
    peer = facts(1, address=address, port=5)
    assert "that is a loopback address" in findings.unreachable(facts(0), peer, "refused", 2).text
    assert "open TCP between the nodes" in findings.unreachable(facts(0), peer, "refused", 1).text


def test_a_peer_is_named_by_its_address_and_interface() -> None:
    text = findings.unreachable(facts(0), facts(1, address="fe80::1", port=7, interface="eth0"), "no route", 2).text
    assert "cannot reach n1 (host h1, rank 1) at [fe80::1]:7 (interface eth0): no route;" in text
    assert "(interface unknown)" in findings.unreachable(facts(0), facts(1, port=7), "x", 2).text


def test_sentences_that_several_nodes_say_are_said_once() -> None:
    one, two = findings.slow(facts(0), facts(1, port=1), "late"), findings.slow_directory(facts(1), facts(0))
    assert findings.unique([one, two, one, two, one]) == [one, two]
    assert not one.fatal and not two.fatal


def test_ports_that_somebody_listens_on_are_found_and_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held, socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # kept for us, and nobody listens there
        free.bind(("127.0.0.1", 0))
        taken, unused = held.getsockname()[1], free.getsockname()[1]
        variables = {"C10D_PORT": str(taken), "INTER_TRAIN_PROCESS_COMM_PORT_1": str(unused), "OTHER": str(taken)}
        assert ports.taken("127.0.0.1", variables) == [("C10D_PORT", taken)]
        owner = ports.owner(taken)
        assert owner is not None and owner.startswith("process ")
    text = findings.port_taken(facts(0), "C10D_PORT", taken, None).text
    assert f"port {taken} (C10D_PORT) is taken on n0" in text and "by a process of another user" in text


@pytest.mark.parametrize("value", ["", "x", "-1", "99999", "1.5"])
def test_ports_that_are_none_are_not_called_taken(value: str) -> None:
    assert ports.taken("127.0.0.1", {"C10D_PORT": value}) == []


def test_a_numeric_address_needs_no_name_server() -> None:
    assert [resolved(address) for address in ("10.1.2.3", "::1")] == ["10.1.2.3", "::1"]
