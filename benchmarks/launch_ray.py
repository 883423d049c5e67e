"""Ray Train's part of the launch benchmark, in the peers' Python: a JSON line of seconds from `fit()` to all ready.

launch_ray.py RANKS TIMES
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path


def main(ranks: int, times: int) -> None:
    import ray
    from ray.train import RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False, configure_logging=False)
    here = str(Path(__file__).parent)
    seconds = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            trainer = TorchTrainer(
                _loop,
                train_loop_config={"folder": folder, "here": here},
                scaling_config=ScalingConfig(num_workers=ranks, resources_per_worker={"CPU": 1}),
                torch_config=TorchConfig(backend="gloo"),
                run_config=RunConfig(storage_path=folder),
            )
            begin = time.time()
            trainer.fit()
            seconds.append(_last(Path(folder), ranks) - begin)
    print(json.dumps(seconds))
    ray.shutdown()


def _loop(config: dict[str, str]) -> None:
    sys.path.insert(0, config["here"])
    from launch_rank import ready

    ready(Path(config["folder"]))


def _last(folder: Path, ranks: int) -> float:
    marks = list(folder.glob(f"rank-*-of-{ranks}"))
    assert len(marks) == ranks, f"{len(marks)} of {ranks} ranks were ready"
    return max(float(mark.read_text()) for mark in marks)


if __name__ == "__main__":
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    main(int(sys.argv[1]), int(sys.argv[2]))
