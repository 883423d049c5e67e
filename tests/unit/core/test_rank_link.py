"""What ranks do when one of them dies, never comes, or is a stranger."""

import contextlib
import pickle
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kept_port import kept_port
from rank_job import Job, errors, results, threaded

from determined.core import DistributedContext, _rank_handshake, _rank_link, _rank_start
from determined.core._rank_start import Place
from determined.errors import InvalidHP


@pytest.fixture(autouse=True)
def _allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_SESSION_TOKEN", "secret")


@pytest.mark.parametrize(("scenario", "dead"), [("one_is_killed", 2), ("the_chief_is_killed", 0)])
@pytest.mark.parametrize("local_size", [3, 1])
def test_the_death_of_a_rank_is_told_to_the_others_at_once(job: Job, scenario: str, dead: int, local_size: int) -> None:
    answers = job(scenario, 3, local_size)
    assert answers.pop(dead) == {}
    for told in results(answers):
        assert told["message"].startswith(f"rank {dead} is gone")
        assert told["seconds"] < 30


def test_a_reason_reaches_ranks_that_wait_on_another_link() -> None:
    """Rank 1 leaves, rank 3 is told so, and its node's chief hears that from it, not that rank 3 left."""

    def work(dist: DistributedContext) -> Any:
        if dist.rank == 1:
            return None
        return dist.gather_local(1) if dist.rank == 2 else dist.allgather(1)

    outcomes = threaded(work, [0, 1, 2, 3], size=4, local_size=2, chief_ip="127.0.0.1")
    assert [str(outcomes[rank])[:14] for rank in (0, 2, 3)] == ["rank 1 is gone"] * 3


@pytest.mark.parametrize("culprit", [0, 2])
def test_the_error_of_a_rank_that_fails_is_told_to_the_others(culprit: int) -> None:
    def work(dist: DistributedContext) -> Any:
        if dist.rank == culprit:
            raise ValueError("record 17 is bad\nand a long story")
        return dist.allgather(1)

    outcomes = threaded(work, [0, 1, 2], size=3)
    assert isinstance(outcomes.pop(culprit), ValueError)
    assert [str(err) for err in outcomes] == [f"rank {culprit} failed: ValueError: record 17 is bad"] * 2


@pytest.mark.parametrize("culprit", [0, 2])
def test_hyperparameters_that_one_rank_finds_invalid_are_invalid_for_all(culprit: int) -> None:
    def work(dist: DistributedContext) -> Any:
        if dist.rank == culprit:
            raise InvalidHP("batch size 0")
        with contextlib.suppress(InvalidHP):
            dist.allgather(1)
        return dist.allgather(2)  # also whoever goes on learns no other reason

    outcomes = threaded(work, [0, 1, 2], size=3)
    assert [type(err) for err in outcomes] == [InvalidHP] * 3
    assert {str(err) for err in outcomes if err is not outcomes[culprit]} == {f"rank {culprit}: batch size 0"}


@pytest.mark.parametrize("culprit", [0, 2])
def test_a_rank_that_fails_ends_before_those_that_only_lost_it(culprit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says goodbye before it has ended, and who ends first is taken for the cause."""
    paused: list[float] = []
    monkeypatch.setattr(_rank_link, "sleep", paused.append)

    def work(dist: DistributedContext) -> Any:
        if dist.rank == culprit:
            raise SystemExit(3)
        return dist.allgather(1)

    outcomes = threaded(work, [0, 1, 2], size=3)
    assert [str(err) for err in outcomes if err is not outcomes[culprit]] == [
        f"rank {culprit} failed: SystemExit: 3"
    ] * 2
    assert len(paused) == 2 and min(paused) > 0


def test_a_rank_may_leave_after_its_last_gather() -> None:
    def work(dist: DistributedContext) -> Any:
        return dist.gather(dist.rank)

    assert threaded(work, [0, 1, 2], size=3) == [[0, 1, 2], None, None]


def test_ranks_that_send_past_each_other_do_not_wait_for_ever(job: Job) -> None:
    """Whoever sees it first leaves; the other may only see that."""
    found = errors(job("out_of_step_with_large_values", 2))
    assert [kind for kind, _ in found] == ["RuntimeError"] * 2
    assert any("out of step" in message for _, message in found)


@pytest.mark.parametrize("force_tcp", [False, True])
def test_a_rank_that_waits_for_a_broadcast_nobody_sends_is_told(
    monkeypatch: pytest.MonkeyPatch, force_tcp: bool
) -> None:
    """The chief is inside an `if rank == 0:` that the others do not enter: each would wait for the other."""
    monkeypatch.setattr(_rank_link, "_PATIENCE_SECONDS", 0.05)

    def work(dist: DistributedContext) -> Any:
        return dist.allgather(1) if dist.rank == 0 else dist.broadcast(None)

    outcomes = threaded(work, [0, 1, 2], size=3, force_tcp=force_tcp)
    assert all("out of step: one is at allgather" in str(err) for err in outcomes)
    assert all("at broadcast" in str(err) for err in outcomes)


@pytest.mark.parametrize("force_tcp", [False, True])
def test_a_rank_may_wait_long_for_a_large_broadcast(monkeypatch: pytest.MonkeyPatch, force_tcp: bool) -> None:
    """What it says while it waits is neither an answer nor a fault, whenever it comes."""
    monkeypatch.setattr(_rank_link, "_PATIENCE_SECONDS", 0.0)
    large = b"x" * (32 << 20)

    def work(dist: DistributedContext) -> Any:
        for number in range(50):
            assert dist.broadcast(number if dist.rank == 0 else None) == number
        assert dist.broadcast(large if dist.rank == 0 else None) == large
        assert dist.gather(dist.rank) in ([0, 1], None)
        return dist.broadcast("last" if dist.rank == 0 else None)

    assert threaded(work, [0, 1], size=2, force_tcp=force_tcp) == ["last", "last"]


def test_a_rank_that_never_comes_is_named_to_those_that_came(monkeypatch: pytest.MonkeyPatch) -> None:
    admit = _rank_handshake.RankListener.admit

    def admit_in_vain(door: _rank_handshake.RankListener, size: int, timeout: float) -> None:
        assert timeout == _rank_start.START_SECONDS
        admit(door, 2, timeout)  # rank 1 has come when the time of the others begins
        admit(door, size, 0.2)

    monkeypatch.setattr(_rank_handshake.RankListener, "admit", admit_in_vain)
    outcomes = threaded(lambda dist: dist.rank, [0, 1], size=4)
    assert [str(err) for err in outcomes] == ["ranks [2, 3] did not connect within 0 s; did they start?"] * 2


def test_two_processes_of_one_rank_are_refused() -> None:
    outcomes = threaded(lambda dist: dist.rank, [0, 1, 1], size=3)
    assert "two processes say that they are rank 1" in str(outcomes[0])
    assert all(isinstance(outcome, RuntimeError) for outcome in outcomes)


def test_ranks_of_different_sizes_are_refused() -> None:
    outcomes: list[Any] = []
    with kept_port() as port:
        larger = threading.Thread(target=lambda: outcomes.extend(threaded(lambda _: None, [5], size=6, port=port)))
        larger.start()
        (chief,) = threaded(lambda dist: dist.rank, [0], size=2, port=port)
        larger.join()
    assert "says it is rank 5, of 2" in str(chief)


def test_after_close_there_is_nobody_to_talk_to() -> None:
    def work(dist: DistributedContext) -> Any:
        dist.close()
        return dist.allgather(1)

    for err in threaded(work, [0, 1], size=2):
        assert "is closed" in str(err)


def test_the_port_is_free_again_once_all_have_come() -> None:
    with kept_port() as port:

        def work(dist: DistributedContext) -> Any:
            if dist.rank == 0:
                _rank_start.listen(Place("world", "127.0.0.1", port)).close()
            return dist.allgather(dist.rank)

        assert threaded(work, [0, 1], size=2, port=port, force_tcp=True) == [[0, 1], [0, 1]]


@pytest.mark.parametrize("address", ["::1", "[::1]", "127.0.0.1", "localhost"])
def test_nodes_talk_over_either_internet_protocol(address: str) -> None:
    if ":" in address and not _has_ipv6():
        pytest.skip("this machine has no IPv6")
    work: Callable[[DistributedContext], Any] = lambda dist: dist.allgather(dist.rank)  # noqa: E731
    assert threaded(work, [0, 1], size=2, local_size=1, chief_ip=address) == [[0, 1], [0, 1]]


def test_local_ranks_can_be_made_to_talk_over_tcp() -> None:
    def work(dist: DistributedContext) -> Any:
        return dist.allgather_local(dist.rank)

    expected = [[0, 1], [0, 1], [2, 3], [2, 3]]
    assert threaded(work, [0, 1, 2, 3], size=4, local_size=2, chief_ip="127.0.0.1", force_tcp=True) == expected


def test_the_chief_listens_on_one_interface_only() -> None:
    with _rank_start.listen(Place("world", "127.0.0.1")) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), timeout=60)


def test_numbers_that_do_not_fit_together_are_told_to_all() -> None:
    """Three ranks that each say that their node has two."""
    outcomes = threaded(lambda dist: dist.rank, [0, 1, 2], size=3, local_size=2, chief_ip="127.0.0.1")
    assert "node 1 has local ranks [0] and rank 2 was told local_size=2" in str(outcomes[2])


class _Trap:
    """Unpickling one leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self._path,)


def _strangers(port: int, trap: Path, said: threading.Event, done: threading.Event) -> None:
    """One that guesses the secret, one that sends a pickle, one that speaks HTTP, one that says nothing."""
    held = []
    poison = pickle.dumps(_Trap(trap))
    hello = _rank_handshake._HELLO
    for words in (hello + bytes(4 + 32 + 32) + poison, poison * 20, b"GET / HTTP/1.1\r\n\r\n", b""):
        held.append(socket.create_connection(("127.0.0.1", port), timeout=60))
        held[-1].sendall(words)
    said.set()
    done.wait(60)
    for connection in held:
        connection.close()


def test_strangers_are_refused_and_hold_nobody_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    where, secret, trap = Place("world", "127.0.0.1"), _rank_start.secret(), tmp_path / "sprung"
    listener = _rank_start.listen(where)
    port, said, done = listener.getsockname()[1], threading.Event(), threading.Event()
    strangers = threading.Thread(target=_strangers, args=(port, trap, said, done))
    strangers.start()
    assert said.wait(60), "they stand in the row before the friend comes"
    door = _rank_handshake.RankListener(listener, secret, b"world")
    with pytest.raises(RuntimeError, match=r"ranks \[1\] did not connect"):
        door.admit(2, 0.5)
    friend = threading.Thread(target=_rank_start.spoke, args=(Place("world", port=port), 1, 0, secret, None))
    friend.start()
    door.admit(2, 60)
    friend.join()
    done.set()
    strangers.join()
    door.admitted[1].close()
    door.close()
    assert "does not know this allocation's secret" in caplog.text
    assert "not a rank of a job" in caplog.text
    assert not trap.exists()


def test_a_rank_with_another_secret_gives_up_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rank_start, "START_SECONDS", 0.3)
    with _rank_start.listen(Place("world", "127.0.0.1")) as listener:
        door = _rank_handshake.RankListener(listener, b"right", b"world")
        where, told = Place("world", port=listener.getsockname()[1]), []

        def knock() -> None:
            with pytest.raises(RuntimeError, match="same DET_SESSION_TOKEN") as raised:
                _rank_start.spoke(where, 1, 0, b"wrong", None)  # type: ignore[arg-type]
            told.append(raised)

        guest = threading.Thread(target=knock)
        guest.start()
        with pytest.raises(RuntimeError, match="did not connect"):
            door.admit(2, 0.6)
        guest.join()
        door.close()
    assert told and not door.admitted


def test_a_chief_with_another_secret_is_not_believed() -> None:
    mine, theirs = socket.socketpair()
    with mine, theirs:
        theirs.sendall(_rank_handshake._HELLO + bytes(32) + bytes(32))
        with pytest.raises(ValueError, match="does not know this allocation's secret"):
            _rank_handshake.greet_hub(mine, 1, b"secret", b"world")


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True
