"""A task that ran out of memory: its exit carries a label, its log advice."""

from fake_master import FakeMaster, RunnerUnderTest

from determined.constants import GPU_MEMORY_ADVICE, GPU_OOM_LABEL, HOST_OOM_LABEL

RAISES = "raise type('OutOfMemoryError', (RuntimeError,), {'__module__': 'torch'})('CUDA out of memory. Tried 2 GiB')"


def test_error_of_the_accelerator_is_labelled_and_advised_upon(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.entrypoint = ["python3", "-c", RAISES]
    told = runner.start().finish()
    assert (told.code, told.label) == (1, GPU_OOM_LABEL)
    what = "out of memory on the accelerator: torch.OutOfMemoryError: CUDA out of memory. Tried 2 GiB"
    first, error, where, cause, fix = told.message.split("\n")
    assert first == "the entrypoint exited with status 1"
    assert (error, where) == (f"what: {what.partition(': ')[2]}", "where: <string>, line 1")
    assert (cause, fix) == (f"cause: {what}", "fix: lower the batch size, or compute in bf16")
    assert fake_master.texts("agent")[-1] == f"{what}. What helps: {GPU_MEMORY_ADVICE}"


def test_advice_that_the_task_gave_itself_is_not_repeated(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.entrypoint = ["python3", "-c", f"print({GPU_MEMORY_ADVICE!r}, flush=True); {RAISES}"]
    assert runner.start().finish().label == GPU_OOM_LABEL
    assert "What helps" not in " ".join(fake_master.texts("agent"))


def test_host_memory_of_a_program_in_a_shell(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.entrypoint = "python3 -c 'bytearray(1 << 60)' || exit 4"
    told = runner.start().finish()
    assert (told.code, told.label) == (4, HOST_OOM_LABEL)


def test_task_that_went_on_after_the_error_is_not_labelled(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.entrypoint = f'python3 -c "{RAISES}"; echo went on'
    told = runner.start().finish()
    assert (told.code, told.label) == (0, "")
