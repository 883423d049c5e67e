"""Ray's part of the environment benchmark, in a Python that has Ray: a JSON line of seconds by kind of start.

environment_ray.py TIMES COLDS PACKAGES
"""

import json
import os
import sys
import time
from typing import Any


def main(times: int, colds: int, packages: list[str]) -> None:
    import ray

    ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False, configure_logging=False)

    @ray.remote(max_calls=1)  # a process of its own, as a trial has
    def first_line() -> float:
        return time.time()

    def start(environment: dict[str, Any] | None, tasks: int = 1) -> float:
        chosen = first_line if environment is None else first_line.options(runtime_env=environment)
        begin = time.time()
        return max(ray.get([chosen.remote() for _ in range(tasks)])) - begin

    found: dict[str, list[float]] = {"none": [], "warm": [], "cold": [], "together": []}
    kept = _environment(packages, "kept")
    start(None)
    start(kept)
    for _ in range(times):
        found["none"].append(start(None))
        found["warm"].append(start(kept))
    for n in range(colds):
        found["cold"].append(start(_environment(packages, f"cold-{n}")))
        found["together"].append(start(_environment(packages, f"together-{n}"), 8))
    print(json.dumps(found))
    ray.shutdown()


def _environment(packages: list[str], name: str) -> dict[str, Any]:
    """The name makes it another environment; uv may use what it has downloaded, as ours does."""
    asked = {"packages": [*packages, f"six>=1,!=0.{_number(name)}"], "uv_pip_install_options": ["--system-certs"]}
    return {"uv": asked}


def _number(name: str) -> int:
    return sum(ord(letter) * 131**n for n, letter in enumerate(name)) % 100_000


if __name__ == "__main__":
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    main(int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]))
