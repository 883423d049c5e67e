"""For a machine with an NVIDIA GPU (`make test-gpu`): detection, CUDA_VISIBLE_DEVICES, a CUDA step in a trial, and
torch_distributed on every GPU with NCCL.

Prints what it saw and exits non-zero when something is off. It needs torch with CUDA in the interpreter that runs it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from cluster import Client, Cluster, write_experiment

SCRIPT = """
import os, torch, determined as det
info = det.get_cluster_info()
print("slots", info.slot_ids, "visible", os.environ.get("CUDA_VISIBLE_DEVICES"), "uuids", info.gpu_uuids, flush=True)
assert torch.cuda.is_available()
assert torch.cuda.device_count() == len(info.slot_ids)
with det.core.init() as core:
    core.profiler.on(sampling_interval=0.2, samples_per_report=2)
    w = torch.zeros(1024, 1024, device="cuda", requires_grad=True)
    for step in range(1, 51):
        loss = ((w @ w) - 1).square().mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad = None
        core.train.report_training_metrics(steps_completed=step, metrics={"loss": loss.detach()})
    import time; time.sleep(1)
    core.train.report_validation_metrics(steps_completed=50, metrics={"loss": loss.detach()})
    print("device", torch.cuda.get_device_name(0), flush=True)
"""

DISTRIBUTED = """
import os, torch, torch.distributed as dist, determined as det
dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
distributed = det.core.DistributedContext.from_torch_distributed()
with det.core.init(distributed=distributed) as core:
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 1).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(1, 11):
        loss = model(torch.ones(32, 64, device="cuda")).square().mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        if distributed.rank == 0:
            core.train.report_training_metrics(steps_completed=step, metrics={"loss": total / distributed.size})
    if distributed.rank == 0:
        core.train.report_validation_metrics(steps_completed=10, metrics={"loss": total / distributed.size})
    print("backend", dist.get_backend(), "rank", distributed.rank, "of", distributed.size, flush=True)
dist.destroy_process_group()
"""


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        cluster = Cluster(Path(scratch) / "cluster", slots=None)
        cluster.start()
        try:
            return _check(cluster, Path(scratch))
        finally:
            cluster.stop()
            cluster.end_runners()


def _check(cluster: Cluster, scratch: Path) -> int:
    client = Client(cluster.url)
    agents = client.get("/api/v1/agents")["agents"]
    devices = [s["device"] for a in agents for s in a["slots"].values()]
    print("devices:", [(d["type"], d["brand"], d["uuid"]) for d in devices])
    config = write_experiment(scratch / "gpu", SCRIPT, {"searcher": {"name": "single", "metric": "loss"}})
    experiment = client.submit(config)
    state = client.wait_state(experiment, "COMPLETED", "ERROR", "CANCELED", seconds=120)
    trial = client.trials(experiment)[0]["id"]
    print("\n".join(client.log_lines(trial)))
    training, gpu = client.metrics(trial, "training"), client.metrics(trial, "gpu")
    print("state", state, "reports", len(training), "gpu samples", len(gpu), gpu[:1])
    query = ["nvidia-smi", "--query-gpu=uuid,name", "--format=csv"]
    print(subprocess.run(query, capture_output=True, text=True, check=True).stdout)
    good = state == "COMPLETED" and len(training) == 50 and bool(gpu) and all("CUDA" in d["type"] for d in devices)
    return 0 if good and _check_distributed(client, scratch, len(devices)) else 1


def _check_distributed(client: Client, scratch: Path, slots: int) -> bool:
    launched = {
        "searcher": {"name": "single", "metric": "loss"},
        "entrypoint": "python3 -m determined.launch.torch_distributed python3 train.py",
        "resources": {"slots_per_trial": slots},
    }
    experiment = client.submit(write_experiment(scratch / "nccl", DISTRIBUTED, launched))
    state = client.wait_state(experiment, "COMPLETED", "ERROR", "CANCELED", seconds=180)
    trial = client.trials(experiment)[0]["id"]
    lines = client.log_lines(trial)
    print("\n".join(lines))
    reports = client.metrics(trial, "training")
    print("NCCL:", state, "reports", len(reports), "ranks", slots)
    return (
        state == "COMPLETED" and len(reports) == 10 and any(f"backend nccl rank 0 of {slots}" in line for line in lines)
    )


if __name__ == "__main__":
    sys.exit(main())
