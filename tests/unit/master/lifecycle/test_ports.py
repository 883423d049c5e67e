"""Ports are unique among everything that runs."""

from determined.master.lifecycle.ports import choose


def test_first_allocation_gets_the_base_ports() -> None:
    assert choose([]) == {
        "DTRAIN_SSH_PORT": 12350,
        "INTER_TRAIN_PROCESS_COMM_PORT_1": 12360,
        "INTER_TRAIN_PROCESS_COMM_PORT_2": 12365,
        "C10D_PORT": 29400,
    }


def test_many_allocations_never_share_a_port() -> None:
    taken: set[int] = set()
    for _ in range(40):
        chosen = choose(taken)
        assert len(set(chosen.values())) == len(chosen)
        assert not taken & set(chosen.values())
        taken |= set(chosen.values())


def test_reserved_ports_are_left_alone() -> None:
    assert choose([29400, 29401])["C10D_PORT"] == 29402
