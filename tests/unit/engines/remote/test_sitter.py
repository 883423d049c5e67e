"""The sitter with a real runner and task: how it begins, what it survives, and how everything of it ends."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from engine_rig import eventually, is_running
from sitting import Sitting

from determined.engines.host.directory import is_drained, launch_file
from determined.rundir.layout import RunDir
from determined.wire.codec import to_json
from determined.wire.report import ExitCause

LOOPBACK_NAME = "localhost"


@pytest.fixture
def encrypted(tmp_path: Path) -> Iterator[Sitting]:
    """Its master serves https with a certificate of its own."""
    sitting = Sitting(tmp_path, tls=_self_signed(tmp_path))
    yield sitting
    sitting.clean()


async def test_runner_is_claimed_run_and_its_directory_removed(sitting: Sitting) -> None:
    sat = sitting.start()
    await sitting.until_running("a")
    sitting.finish("a", 7)
    assert await sat.ended() == 0
    assert sitting.master.exits["a"].code == 7
    assert "hello from a" in sitting.master.lines["a"]
    [asked] = sitting.master.asked
    assert (asked.rank, asked.address, asked.node_id) == (0, "127.0.0.1", None)
    assert list(sitting.run_root.iterdir()) == []
    assert sitting.left_over() == []


async def test_rank_and_node_come_from_slurm_where_the_order_names_none(sitting: Sitting) -> None:
    sitting.launch("b", rank=3)
    sat = sitting.start("--place", order=sitting.order("b", rank=None), SLURM_PROCID="3", SLURMD_NODENAME="n17")
    await sitting.until_running("b")
    sitting.finish("b")
    assert await sat.ended() == 0
    [asked] = sitting.master.asked
    assert (asked.rank, asked.node_id) == (3, "n17")


async def test_claim_whose_answer_got_lost_is_repeated_by_the_same_claimant(sitting: Sitting) -> None:
    sitting.master.mute = True
    sat = sitting.start()
    await eventually(lambda: len(sitting.master.asked) > 1)
    sitting.master.mute = False
    await sitting.until_running("a")
    sitting.finish("a")
    assert await sat.ended() == 0
    assert len({asked.claimant for asked in sitting.master.asked}) == 1
    assert sitting.times_run("a") == 1


async def test_second_sitter_of_a_runner_is_refused(sitting: Sitting) -> None:
    first = sitting.start()
    await sitting.until_running("a")
    second = sitting.start()
    assert await second.ended() == 2
    assert "begun before" in second.said
    sitting.finish("a")
    assert await first.ended() == 0
    assert sitting.times_run("a") == 1


async def test_wrong_ticket_is_refused(sitting: Sitting) -> None:
    sat = sitting.start(order=sitting.order(ticket="found in the rubbish"))
    assert await sat.ended() == 2
    assert "ticket" in sat.said


async def test_stranger_at_the_masters_port_starts_nothing_and_is_not_told_the_ticket(sitting: Sitting) -> None:
    genuine = sitting.master.answer
    heard = []

    def stranger(target: str, body: bytes) -> tuple[int, dict[str, object]]:
        heard.append(body)
        return 200, {"launch": json.loads(to_json(launch_file(sitting.launch("a")))), "proof": "00"}

    sitting.master.answer = stranger  # type: ignore[method-assign]
    sat = sitting.start()
    await eventually(lambda: len(heard) > 1)
    assert not any(sitting.order().ticket.encode() in body for body in heard)
    assert not sitting.run_root.exists()
    sitting.master.answer = genuine  # type: ignore[method-assign]
    await sitting.until_running("a")
    sitting.finish("a")
    assert await sat.ended() == 0


async def test_master_that_is_away_is_waited_for(sitting: Sitting) -> None:
    sitting.master.away = True
    sat = sitting.start()
    await eventually(lambda: sitting.master.dropped > 1)
    sitting.master.away = False
    await sitting.until_running("a")
    sitting.master.away = True
    sitting.finish("a", 3)
    await eventually(lambda: not is_running(sitting.task_pid("a") or 0))
    assert sat.process.poll() is None
    sitting.master.away = False
    assert await sat.ended() == 0
    assert sitting.master.exits["a"].code == 3


async def test_crashed_runner_is_started_again_to_report(sitting: Sitting) -> None:
    sat = sitting.start()
    task = await sitting.until_running("a")
    sitting.crash("a")
    assert await sat.ended() == 0
    assert sitting.master.exits["a"].cause is ExitCause.LOST
    assert not is_running(task)
    assert sitting.times_run("a") == 1
    assert list(sitting.run_root.iterdir()) == []


async def test_runner_that_dies_again_and_again_is_lost_with_its_last_words(sitting: Sitting) -> None:
    sat = sitting.start()
    await sitting.until_running("a")
    run_dir = RunDir(sitting.run_root / "a")
    await eventually(lambda: "hello from a" in sitting.master.lines.get("a", []) and is_drained(run_dir))
    (sitting.run_root / "a" / "runner.log").write_text("out of everything\n")
    await eventually(lambda: _kill_runners(sitting) and sat.process.poll() is not None)
    assert sat.process.returncode == 1
    assert "out of everything" in sat.said
    assert list(sitting.run_root.iterdir()) == []
    assert sitting.left_over() == []


async def test_leashed_sitter_whose_starter_is_gone_takes_everything_along(sitting: Sitting) -> None:
    sat = sitting.start("--leash")
    await sitting.until_running("a")
    await eventually(lambda: "hello from a" in sitting.master.lines.get("a", []))
    sat.let_go()
    assert await sat.ended() == 1
    assert sitting.left_over() == []
    assert not (sitting.run_root / "a").exists()


async def test_sitter_whose_starter_was_killed_takes_everything_along_also_without_leash(sitting: Sitting) -> None:
    sat = sitting.start(below=["sh", "-c", 'exec 3<&0; "$@" <&3 & wait', "sh"])
    await sitting.until_running("a")
    await eventually(lambda: "hello from a" in sitting.master.lines.get("a", []))
    sat.process.kill()
    await eventually(lambda: sitting.left_over() == [])
    assert not (sitting.run_root / "a").exists()


async def test_leashed_sitter_ends_while_it_waits_for_the_master(sitting: Sitting) -> None:
    sitting.master.away = True
    sat = sitting.start("--leash")
    await eventually(lambda: sitting.master.dropped > 1)
    sat.let_go()
    assert await sat.ended() == 1
    assert sitting.left_over() == []


async def test_word_on_standard_input_is_no_end_of_the_leash(sitting: Sitting) -> None:
    sat = sitting.start("--leash")
    await sitting.until_running("a")
    assert sat.process.stdin is not None
    sat.process.stdin.write(b"anything\n" * 3)
    sat.process.stdin.flush()
    sitting.finish("a")
    assert await sat.ended() == 0


async def test_sitter_without_leash_does_not_mind_the_end_of_its_input(sitting: Sitting) -> None:
    sat = sitting.start(order=to_json(sitting.order()))
    sat.let_go()
    await sitting.until_running("a")
    sitting.finish("a")
    assert await sat.ended() == 0


@pytest.mark.parametrize("order", [b"", b"\n", b"{}\n", b"rubbish\n"])
async def test_sitter_without_a_usable_order_says_so(sitting: Sitting, order: bytes) -> None:
    sat = sitting.start(order=order)
    sat.let_go()
    assert await sat.ended() == 1
    assert "no order on standard input" in sat.said


def test_sitter_with_closed_standard_input_says_so(sitting: Sitting) -> None:
    command = f"exec {sys.executable} -m determined.engines.remote.sitter --leash 0<&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=60)
    assert done.returncode == 1
    assert b"no order on standard input" in done.stderr


async def test_host_that_is_taken_away_has_the_task_preempted(sitting: Sitting) -> None:
    sat = sitting.start()
    await sitting.until_running("a")
    sat.process.send_signal(signal.SIGTERM)
    assert await sat.ended() == 0
    assert sitting.master.leaving == [sitting.launch("a").allocation_id]
    assert sitting.master.exits["a"].cause is ExitCause.PREEMPTED


async def test_host_that_is_taken_away_while_the_master_is_has_the_task_ended(sitting: Sitting) -> None:
    sat = sitting.start()
    task = await sitting.until_running("a")
    sitting.master.away = True
    sat.process.send_signal(signal.SIGTERM)
    await eventually(lambda: not is_running(task))
    assert "the master cannot be asked" in sat.said
    sitting.master.away = False
    assert await sat.ended() == 0
    assert sitting.master.exits["a"].cause is ExitCause.KILLED


async def test_stranger_at_the_masters_port_is_not_asked_for_preemption_with_the_token(sitting: Sitting) -> None:
    sat = sitting.start()
    task = await sitting.until_running("a")
    genuine = sitting.master.answer
    heard: list[str] = []

    def stranger(target: str, body: bytes) -> tuple[int, dict[str, object]]:
        heard.append(target)
        return 200, {"proofs": ["00"]}

    sitting.master.answer = stranger  # type: ignore[method-assign]
    sat.process.send_signal(signal.SIGTERM)
    await eventually(lambda: not is_running(task))
    assert any(target.startswith("/info") for target in heard)
    assert not any("pending_preemption" in target for target in heard)
    assert "is not the master of this task" in sat.said
    sitting.master.answer = genuine  # type: ignore[method-assign]
    assert await sat.ended() == 0


async def test_interrupt_ends_the_task(sitting: Sitting) -> None:
    sat = sitting.start()
    await sitting.until_running("a")
    sat.process.send_signal(signal.SIGINT)
    assert await sat.ended() == 0
    assert sitting.master.exits["a"].cause is ExitCause.KILLED


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signal_before_the_claim_is_answered_begins_nothing(sitting: Sitting, number: int) -> None:
    sitting.master.away = True
    sat = sitting.start()
    await eventually(lambda: sitting.master.dropped > 0)
    sat.process.send_signal(number)
    assert await sat.ended() == 1
    assert not sitting.run_root.exists()


async def test_killed_sitter_takes_runner_and_task_along_and_the_next_one_clears_up(sitting: Sitting) -> None:
    sat = sitting.start()
    await sitting.until_running("a")
    await eventually(lambda: "hello from a" in sitting.master.lines.get("a", []))
    sat.process.kill()
    await eventually(lambda: sitting.left_over() == [])
    left = sitting.run_root / "a"
    for path in (left, *left.rglob("*")):
        os.utime(path, (0, 0), follow_symlinks=False)
    sitting.launch("b")
    following = sitting.start(order=sitting.order("b"))
    await sitting.until_running("b")
    await eventually(lambda: not left.exists())
    sitting.finish("b")
    assert await following.ended() == 0
    assert list(sitting.run_root.iterdir()) == []


def test_runner_whose_sitter_died_before_it_had_begun_begins_nothing(sitting: Sitting) -> None:
    file = launch_file(sitting.launch("a"))
    file.tied_to = 1  # not the process that starts it here
    run_dir = sitting.run_root / "a"
    run_dir.mkdir(parents=True)
    (run_dir / "launch.json").write_bytes(to_json(file))
    command = [sys.executable, "-P", "-m", "determined.exec.runner", str(run_dir)]
    assert subprocess.run(command, check=False, timeout=60).returncode == 1
    assert sitting.times_run("a") == 0


async def test_master_with_a_certificate_of_its_own_is_trusted_by_sitter_runner_and_task(encrypted: Sitting) -> None:
    cert = encrypted.place / "master.pem"
    order = encrypted.order(master_cert=cert.read_text(), master_cert_name=LOOPBACK_NAME)
    sat = encrypted.start(order=order)
    await encrypted.until_running("a")
    kept = encrypted.run_root / "a" / "master.crt"
    assert psutil.Process(encrypted.task_pid("a")).environ()["DET_MASTER_CERT_FILE"] == str(kept)
    assert kept.read_text() == cert.read_text()
    encrypted.finish("a")
    assert await sat.ended() == 0
    assert list(encrypted.run_root.iterdir()) == []


async def test_master_with_a_certificate_that_was_not_named_gets_no_claim(encrypted: Sitting) -> None:
    sat = encrypted.start("--leash", order=encrypted.order(master_cert_name=LOOPBACK_NAME))
    await eventually(lambda: encrypted.master.refused > 1)
    sat.let_go()
    assert await sat.ended() == 1
    assert encrypted.master.asked == []


def _kill_runners(sitting: Sitting) -> bool:
    for process in sitting.left_over():
        with contextlib.suppress(psutil.Error):
            if "determined.exec.runner" in process.cmdline():
                process.kill()
    return True


def _self_signed(place: Path) -> tuple[Path, Path]:
    cert, key = place / "master.pem", place / "master.key"
    command = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=test",
        "-addext", f"subjectAltName=DNS:{LOOPBACK_NAME}", "-keyout", str(key), "-out", str(cert),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    return cert, key
