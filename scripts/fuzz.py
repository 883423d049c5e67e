"""`make fuzz`: schemathesis against our own OpenAPI, as administrator, user and task; a 5xx or a hang fails it.

It ends with what each role was answered. FUZZ_EXAMPLES sets how much is tried, FUZZ_ONLY where.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz_world import (
    Cluster,
    kill_tasks,
    new_administrator,
    new_user,
    populate,
    populate_own,
    running_master,
    start_task,
)

from determined.master.auth import session_token

EXAMPLES = os.environ.get("FUZZ_EXAMPLES", "40")
WORKERS = os.environ.get("FUZZ_WORKERS", "2")
ONLY = os.environ.get("FUZZ_ONLY", "")  # a regular expression of paths
HITS = 0.7  # share of requests that name something that exists

# Logging out would make every later answer a 401; the master's log can be followed for ever.
NEVER = "auth/logout|master/logs"
# Of something that runs, these answer when it changes.
WAITING = "/logs|metrics-stream|signals|rendezvous|all_gather|notify_container_running|profiler"
# These would end the task whose token is used; the administrator has tried them.
ENDING = "kill|cancel|pause|disable|/reports|/exit"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="det-fuzz-", ignore_cleanup_errors=True) as scratch:
        directory = Path(scratch)
        runs = []
        with running_master(directory) as cluster:
            known = populate(cluster)
            runs.append(_run(cluster, "administrator", cluster.token, known, NEVER))
            # those that the administrator has changed would be no ordinary user, and things of theirs be gone
            user = new_user(cluster)
            runs.append(_run(user, "user", user.token, known | populate_own(user, known), NEVER))
            administrator = new_administrator(cluster)
            task = start_task(administrator)
            token = cluster.allocation_token(task["allocation_id"][0])
            runs.append(_run(cluster, "task", token, known | task, f"{NEVER}|{WAITING}|{ENDING}"))
            for used in (user.token, token):  # a fuzzer that locked itself out tested nothing
                Cluster(cluster.url, directory, used).call("GET", "/api/v1/me")
            kill_tasks(administrator)
        incidents = _incidents(directory / "master.log")
    print("\n".join(run.summary() for run in runs), flush=True)
    return int(incidents > 0 or any(run.failed for run in runs))


@dataclass(frozen=True)
class Run:
    role: str
    status: int  # of schemathesis
    answers: dict[str, int]

    @property
    def errors(self) -> int:
        return sum(number for status, number in self.answers.items() if status.startswith("5"))

    @property
    def failed(self) -> bool:
        """Also when nothing was answered, or hardly anything but refusals: then nothing was tested."""
        served = sum(number for status, number in self.answers.items() if status.startswith("2"))
        return self.status != 0 or self.errors > 0 or not served

    def summary(self) -> str:
        counted = {status: number for status, number in sorted(self.answers.items()) if status.isdigit()}
        restored = self.answers.get("restored", 0)
        cases = sum(counted.values())
        return f"{self.role}: {cases} cases, {self.errors} x 5xx, account restored {restored} times, answers {counted}"


def _run(cluster: Cluster, role: str, token: str, known: dict[str, list[Any]], excluded: str) -> Run:
    print(f"as {role}", flush=True)
    counts = cluster.directory / f"{role}.json"
    config = cluster.directory / "schemathesis.toml"
    config.write_text(_config(known))
    words = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config)]
    words += ["run", f"{cluster.url}/docs/openapi.json", "--url", cluster.url, "-w", WORKERS]
    words += ["-H", f"Authorization: Bearer {token}", "--checks", "not_a_server_error", "-n", EXAMPLES]
    words += ["--phases", "examples,coverage,fuzzing", "--request-timeout", "20", "--max-failures", "50"]
    words += ["--exclude-path-regex", excluded, "--suppress-health-check", "all", "--warnings", "off"]
    words += ["--include-path-regex", ONLY] if ONLY else []
    here = Path(__file__).parent
    hooks = {"SCHEMATHESIS_HOOKS": "fuzz_hooks", "PYTHONPATH": str(here), "FUZZ_COUNTS": str(counts)}
    hooks["FUZZ_DATABASE"] = str(cluster.directory / "master.db")
    if role != "task":
        hooks["FUZZ_SESSION"] = session_token.digest(token)
    done = subprocess.run(words, check=False, cwd=cluster.directory, env={**os.environ, **hooks})
    return Run(role, done.returncode, json.loads(counts.read_text()) if counts.exists() else {})


def _config(known: dict[str, list[Any]]) -> str:
    lists = [f"[dictionaries.{name}]\nvalues = {json.dumps(values)}\n" for name, values in known.items() if values]
    bound = [f'"path.{n}" = {{ dictionary = "{n}", probability = {HITS} }}' for n, values in known.items() if values]
    return "\n".join([*lists, "[parameters]", *bound, ""])


def _incidents(log: Path) -> int:
    """List what went wrong behind an answer that looked fine: a broken stream, a crashed loop."""
    entries = [json.loads(line) for line in log.read_text().split("\n") if line.startswith("{")]
    bad = {re.sub(r"[0-9a-f]{8}", "#", e["message"]): e for e in entries if e["level"] == "ERROR" or "traceback" in e}
    for message, entry in bad.items():
        print(f"in the master's log: {message}\n{entry.get('traceback', '')}", flush=True)
    return len(bad)


if __name__ == "__main__":
    sys.exit(main())
