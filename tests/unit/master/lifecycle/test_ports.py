"""Ports are unique among everything that runs."""

import socket

import pytest

from determined.master.lifecycle.ports import BASES, PortChoice, is_free

ALL_FREE = PortChoice(is_free=lambda port: True)


def test_first_allocation_gets_the_base_ports() -> None:
    assert ALL_FREE.choose([]) == {
        "DTRAIN_SSH_PORT": 12350,
        "INTER_TRAIN_PROCESS_COMM_PORT_1": 12360,
        "INTER_TRAIN_PROCESS_COMM_PORT_2": 12365,
        "C10D_PORT": 29400,
    }


@pytest.mark.parametrize("offset", [0, 16, 3344])
def test_many_allocations_never_share_a_port(offset: int) -> None:
    choice = PortChoice(offset=offset, is_free=lambda port: True)
    taken: set[int] = set()
    for _ in range(40):
        chosen = choice.choose(taken)
        assert len(set(chosen.values())) == len(chosen)
        assert not taken & set(chosen.values())
        assert all(BASES[name] <= port < 32768 for name, port in chosen.items())
        taken |= set(chosen.values())


def test_reserved_ports_are_left_alone() -> None:
    assert ALL_FREE.choose([29400, 29401])["C10D_PORT"] == 29402
    assert PortChoice(frozenset({29400}), is_free=lambda port: True).choose([29401])["C10D_PORT"] == 29402


def test_masters_of_one_machine_begin_at_different_places_and_each_at_the_same_one_again() -> None:
    first, second, again = (PortChoice.of(cluster, ()) for cluster in ("a", "b", "a"))
    assert first.offset == again.offset
    assert abs(first.offset - second.offset) >= 16


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_port_that_somebody_listens_on_is_left_out(family: socket.AddressFamily) -> None:
    with socket.socket() as kept:  # bound and not listening: the kernel gives this port to nobody else meanwhile
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("", 0))
        port = kept.getsockname()[1]
        with socket.create_server(("", port), family=family, dualstack_ipv6=family is socket.AF_INET6):
            assert not is_free(port)
        assert is_free(port)


def test_port_in_use_is_passed_over() -> None:
    chosen = PortChoice(is_free=lambda port: port not in (29400, 12350)).choose([])
    assert (chosen["C10D_PORT"], chosen["DTRAIN_SSH_PORT"]) == (29401, 12351)
