"""Somebody else on the master's port: gets no token, ends no training, and is waited out."""

from fake_master import TOKEN, FakeMaster, RunnerUnderTest, eventually

from determined.wire.report import ExitCause

WAITING = "echo begun; while [ ! -e ../go ]; do sleep 0.02; done; echo ended"


def test_foreign_master_on_the_port_gets_no_token_and_ends_nothing(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.entrypoint = WAITING
    runner.start()
    eventually(lambda: fake_master.texts() == ["begun"])
    port = int(fake_master.url.rpartition(":")[2])
    fake_master.stop()
    foreign = FakeMaster()
    foreign.stop()
    foreign.secret = "of another cluster"
    foreign.start(port)
    eventually(lambda: foreign.questions >= 2)
    eventually(lambda: "not the master of this task" in runner.dir.runner_log.read_text())
    assert foreign.tokens == set()
    foreign.close()
    fake_master.start(port)
    (runner.dir.path / "go").touch()
    told = runner.finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, 0)
    assert fake_master.texts() == ["begun", "ended"]


def test_proof_costs_one_request_a_connection(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.entrypoint = (
        "for i in 1 2 3 4 5 6; do echo $i; while [ ! -e ../heard$i ]; do sleep 0.02; done; done"
    )
    runner.start()
    for number in map(str, range(1, 7)):  # each line travels in a batch of its own
        eventually(lambda number=number: number in fake_master.texts())
        (runner.dir.path / f"heard{number}").touch()
    assert runner.finish().code == 0
    assert len(fake_master.batches) >= 6
    assert fake_master.tokens == {f"Bearer {TOKEN}"}
    assert fake_master.questions <= fake_master.connections


def test_proven_master_that_knows_no_such_allocation_ends_the_task(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.entrypoint = WAITING
    runner.start()
    eventually(lambda: fake_master.texts() == ["begun"])
    fake_master.gone |= {"signals", "reports"}
    fake_master.signal(preempt=True)
    assert runner.wait() == 0
    assert fake_master.exit() is None
