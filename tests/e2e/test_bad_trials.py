"""Users' errors in real trials: each ends by itself, in the right state, and its log names a method and a way out."""

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cage import Cage, make_cage

from cluster import Client, Cluster, det
from determined.constants import GPU_MEMORY_ADVICE, GPU_OOM_LABEL, HOST_MEMORY_ADVICE, HOST_OOM_LABEL

MODEL = Path(__file__).parent / "bad_trials" / "model_def.py"
# Of master, runners and two trials that have loaded torch; far below what the greedy trial takes.
LIMIT_BYTES = 2 << 30
# case -> words that its log has
FAILURES = {
    "no model": ["MyTrial.__init__ wrapped no model", "self.context.wrap_model(model)"],
    "no optimizer": ["MyTrial.__init__ wrapped no optimizer", "self.context.wrap_optimizer(optimizer)"],
    "changing keys": ["train_batch", "['loss']", "['extra', 'loss']"],
    "torch loader": ["build_training_data_loader", "determined.pytorch.DataLoader", "disable_dataset_reproducibility"],
    "stream": ["IterableDataset", "disable_dataset_reproducibility_checks"],
    "no length": ["Lengthless", "__len__"],
    "wrong reducer": ["evaluation_reducer", "['accuracy']", "['loss']"],
    "no graph": ["train_batch", "context.backward", "detach()"],
    "callback": ["broken in a callback", "on_training_epoch_start"],
    "constructor": ["broken in the constructor"],
    "missing hparam": ["width", "hyperparameters"],
    "gpu memory": ["torch.OutOfMemoryError: CUDA out of memory", GPU_MEMORY_ADVICE],
}
COMPLETIONS = {
    "fine": [],
    "torch stream": [],
    "nan": ["training metric 'loss' is nan in batch 0", "set_detect_anomaly"],
    "no step": ["no optimizer has stepped", "step_optimizer(optimizer) in train_batch"],
    "invalid hp in constructor": ["too wide for this data"],
    "invalid hp in train_batch": ["diverges"],
}
# A trial of each of these more takes a minute: `make test-slow`.
RARE = {
    "no optimizer",
    "torch loader",
    "stream",
    "callback",
    "constructor",
    "missing hparam",
    "torch stream",
    "no step",
}
RARE |= {"invalid hp in constructor", "invalid hp in train_batch"}
pytestmark = pytest.mark.timeout(900)


@dataclass(frozen=True, slots=True)
class Ended:
    experiment: int
    trial: dict[str, Any]
    lines: list[str]

    @property
    def state(self) -> str:
        return str(self.trial["state"]).removeprefix("STATE_")

    @property
    def log(self) -> str:
        return "\n".join(self.lines)


@pytest.fixture(scope="module")
def cage() -> Iterator[Cage | None]:
    made = make_cage(LIMIT_BYTES)
    yield made
    if made is not None:
        made.remove()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, cage: Cage | None) -> Iterator[Cluster]:
    running = Cluster(tmp_path_factory.mktemp("bad"))
    running.start()
    if cage is not None and running.process is not None:
        cage.take(running.process.pid)
    yield running
    running.stop()
    running.end_runners()


def _marked(cases: Iterable[str]) -> list[Any]:
    return [pytest.param(case, marks=pytest.mark.slow) if case in RARE else case for case in cases]


@pytest.fixture(scope="module")
def ended(request: pytest.FixtureRequest, cluster: Cluster, cage: Cage | None) -> dict[str, Ended]:
    """Run all that are asked about, two at a time: starting Python and torch is what they cost."""
    client = Client(cluster.url)
    asked = {item.callspec.params["case"] for item in request.session.items if hasattr(item, "callspec")
             and item.path == request.path and "case" in item.callspec.params}  # fmt: skip
    alone = ["fine", "gpu memory", *(["host memory"] if cage is not None else [])]  # have tests of their own
    cases = [case for case in (*FAILURES, *COMPLETIONS, "host memory") if case in asked or case in alone]
    every = {"type": "categorical", "vals": cases}
    submitted = [
        _submit(client, {"case": every, "global_batch_size": 4}, "grid"),
        _submit(client, {"case": "epochs of a stream", "global_batch_size": 4}, "single", {"epochs": 1}),
        _submit(client, {"case": "no global batch size"}, "single"),
    ]
    for experiment in submitted:
        client.wait_state(experiment, "COMPLETED", "ERROR", seconds=600)
    found: dict[str, Ended] = {}
    for experiment in submitted:
        for trial in client.trials(experiment):
            found[trial["hparams"]["case"]] = Ended(experiment, trial, client.log_lines(trial["id"]))
    return found


@pytest.mark.parametrize("case", _marked(FAILURES))
def test_error_of_the_user_is_named_with_the_way_out(ended: dict[str, Ended], case: str) -> None:
    assert ended[case].state == "ERROR", ended[case].log
    missing = [words for words in FAILURES[case] if words not in ended[case].log]
    assert not missing, ended[case].log


@pytest.mark.parametrize("case", _marked(COMPLETIONS))
def test_trial_that_may_go_on_completes_and_is_warned(ended: dict[str, Ended], case: str) -> None:
    assert ended[case].state == "COMPLETED", ended[case].log
    for words in COMPLETIONS[case]:
        assert sum(words in line for line in ended[case].lines) == 1, ended[case].log


def test_trial_without_faults_is_not_warned_of_any(ended: dict[str, Ended]) -> None:
    assert "WARNING" not in ended["fine"].log
    assert ended["fine"].trial.get("logPolicyMatched") is None


def test_epochs_of_data_without_a_length_are_refused(ended: dict[str, Ended]) -> None:
    one = ended["epochs of a stream"]
    assert one.state == "ERROR"
    assert "the training data has no length; give the length in batches" in one.log


def test_missing_global_batch_size_is_named(ended: dict[str, Ended]) -> None:
    one = ended["no global batch size"]
    assert one.state == "ERROR"
    assert "global_batch_size" in one.log and "hyperparameters" in one.log


def test_lack_of_gpu_memory_is_labelled_everywhere(ended: dict[str, Ended], cluster: Cluster, home: Path) -> None:
    _is_labelled(ended["gpu memory"], GPU_OOM_LABEL, cluster, home)
    assert sum(GPU_MEMORY_ADVICE in line for line in ended["gpu memory"].lines) == 1


def test_trial_killed_by_the_kernel_is_labelled_everywhere(
    ended: dict[str, Ended], cluster: Cluster, home: Path, cage: Cage | None
) -> None:
    if cage is None:
        pytest.skip("no memory cgroup can be made here: that takes root")
    one = ended["host memory"]
    assert one.state == "ERROR", one.log
    _is_labelled(one, HOST_OOM_LABEL, cluster, home)
    assert "out of memory on the host: the kernel ended a process" in one.log
    assert "(its limit is 2048 MiB)" in one.log
    assert HOST_MEMORY_ADVICE in one.log


def _is_labelled(one: Ended, label: str, cluster: Cluster, home: Path) -> None:
    assert one.trial["logPolicyMatched"] == label, one.log
    told = det(home, "t", "describe", str(one.trial["id"]), master=cluster.url).stdout
    assert label in told
    told = det(home, "e", "describe", str(one.experiment), "--csv", master=cluster.url).stdout
    assert any(line.startswith(f"{one.trial['id']},") and f",{label}," in line for line in told.splitlines()), told


def _submit(client: Client, hparams: dict[str, Any], search: str, length: dict[str, int] | None = None) -> int:
    config = {
        "name": "bad trials",
        "entrypoint": "model_def:MyTrial",
        "searcher": {"name": search, "metric": "loss", "max_length": length or {"batches": 4}},
        "hyperparameters": hparams,
        "max_restarts": 0,
        "scheduling_unit": 2,
        "environment": {"environment_variables": ["OMP_NUM_THREADS=1"]},
    }
    file = {
        "path": "model_def.py", "type": 48, "content": base64.b64encode(MODEL.read_bytes()).decode(), "mtime": "0",
        "mode": 0o644, "uid": 0, "gid": 0,
    }  # fmt: skip
    body = {"config": json.dumps(config), "modelDefinition": [file], "activate": True}
    return int(client.post("/api/v1/experiments", body)["experiment"]["id"])
