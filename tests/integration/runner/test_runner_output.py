"""What a task writes, as the master gets it."""

from fake_master import FakeMaster, RunnerUnderTest, eventually

from determined.constants import MAX_LOG_LINE_BYTES


def run_python(master: FakeMaster, runner: RunnerUnderTest, code: str) -> None:
    master.files = {"script.py": code}
    master.spec.entrypoint = "python3 script.py"
    assert runner.start().finish().code == 0, master.texts()


def test_line_of_a_megabyte_arrives_whole_in_pieces(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    run_python(fake_master, runner, "print('ERROR: ' + 'é' * 500_000)\nprint('after')")
    *pieces, last = fake_master.lines("task")
    assert "".join(piece.text for piece in pieces) == "é" * 500_000
    assert {piece.level for piece in pieces} == {"ERROR"}
    assert max(len(piece.text.encode()) for piece in pieces) <= MAX_LOG_LINE_BYTES
    assert (last.text, last.level) == ("after", None)


def test_bytes_that_are_no_utf8_are_replaced(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    run_python(fake_master, runner, r"import os; os.write(1, b'a\xff\xfeb\n')")
    assert fake_master.texts() == ["a\ufffd\ufffdb"]


def test_rank_level_and_stream_become_fields(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    run_python(fake_master, runner, "import sys; print('[rank=3] WARNING: careful', file=sys.stderr)")
    [line] = fake_master.lines("task")
    assert (line.text, line.rank, line.level, line.stdtype) == ("careful", 3, "WARNING", "stderr")


def test_progress_bar_states_are_lines_and_a_last_line_needs_no_end(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    run_python(fake_master, runner, r"import sys; sys.stdout.write('\r10%\r20%\r\n\nlast')")
    assert fake_master.texts() == ["10%", "20%", "", "last"]


def test_lines_are_shipped_while_the_task_runs(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    """It ends only once its first line has arrived."""
    code = "import os, time\nprint('first')\nwhile not os.path.exists('../heard'): time.sleep(0.01)\nprint('last')"
    fake_master.spec.entrypoint = ["python3", "-c", code]
    runner.start()
    eventually(lambda: fake_master.texts() == ["first"])
    (runner.dir.path / "heard").touch()
    assert runner.finish().code == 0
    assert fake_master.texts() == ["first", "last"]


def test_a_hundred_thousand_lines_arrive_in_order_in_few_batches(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    run_python(fake_master, runner, "import sys\nsys.stdout.write(''.join(f'line {i}\\n' for i in range(100_000)))")
    assert fake_master.texts() == [f"line {i}" for i in range(100_000)]
    assert max(fake_master.batches) <= 1000
    assert len(fake_master.batches) < 300


LEAVES_A_WRITER = "(until test -e ../heard; do sleep 0.02; done; echo later; sleep 1000) & echo now"


def test_a_program_left_behind_by_a_command_writes_on_for_a_while(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.entrypoint = ["sh", "-c", LEAVES_A_WRITER]
    fake_master.spec.environment = ["DET_LOG_WAIT_TIME=2.5"]
    runner.start()
    eventually(lambda: fake_master.texts() == ["now"])
    (runner.dir.path / "heard").touch()
    assert runner.finish().code == 0
    assert fake_master.texts() == ["now", "later"]


def test_a_command_ends_as_soon_as_nobody_can_write_any_more(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.entrypoint = ["sh", "-c", "(sleep 0.2; echo later) & echo now"]
    fake_master.spec.environment = ["DET_LOG_WAIT_TIME=1000000"]
    assert runner.start().finish().code == 0
    assert fake_master.texts() == ["now", "later"]


def test_a_kill_ends_the_waiting_for_programs_left_behind(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.entrypoint = ["sh", "-c", LEAVES_A_WRITER]
    fake_master.spec.environment = ["DET_LOG_WAIT_TIME=1000000"]
    runner.start()
    eventually(lambda: fake_master.texts() == ["now"])
    fake_master.signal(kill=True)
    runner.finish()
    assert fake_master.texts() == ["now"]


def test_a_trial_does_not_wait_for_programs_left_behind(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.task_type = "TRIAL"
    fake_master.spec.entrypoint = ["sh", "-c", LEAVES_A_WRITER]
    fake_master.spec.environment = ["DET_LOG_WAIT_TIME=1000000"]
    assert runner.start().finish().code == 0
    assert "later" not in fake_master.texts()
