"""The official client, determined==0.38.1, with commands and generic tasks on our master: command line and bindings."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from official_calls import COUNTED
from official_det import Det, launched

from cluster import HANG_SECONDS, Client, Cluster, clean_environment, eventually, official_python, write_experiment

pytestmark = pytest.mark.official

UNKNOWN = "00000000-0000-0000-0000-000000000000"


def test_run_follows_the_log_and_succeeds_whatever_the_command_does(det: Det) -> None:
    good = det("cmd", "run", "echo", "hello")
    assert "resources exited successfully" in good.stdout.lower() and "hello" in good.stdout
    bad = det("cmd", "run", "false")
    assert "resources failed with non-zero exit code" in bad.stdout.lower()
    for done in (good, bad):
        det("command", "kill", launched(done))


def test_a_detached_command_is_listed_described_and_killed(det: Det) -> None:
    task_id = det("cmd", "run", "-d", "sleep", "1000").stdout.strip()
    assert re.fullmatch(r"[0-9a-f-]{36}", task_id)
    rows = [line.split("|") for line in det("cmd", "list").stdout.splitlines() if task_id in line]
    assert [cell.strip() for cell in rows[0]][:2] == [task_id, "determined"]
    assert task_id in det("cmd", "ls", "-q", "-a").stdout.split()
    assert len(det("cmd", "describe", task_id).stdout.splitlines()) == 3
    assert len(det("cmd", "describe", task_id, "--csv").stdout.splitlines()) == 2
    assert json.loads(det("cmd", "describe", task_id, "--json").stdout)["id"] == task_id
    assert "sleep" in det("cmd", "config", task_id).stdout
    assert f"Set priority of command {task_id} to 50" in det("cmd", "set", "priority", task_id, "50").stdout
    assert f"Killed command {task_id}" in det("cmd", "kill", task_id).stdout
    eventually(lambda: "TERMINATED" in det("cmd", "describe", task_id).stdout)
    det("cmd", "kill", task_id)


def test_files_configs_and_hooks_reach_the_command(det: Det, tmp_path: Path) -> None:
    context = tmp_path / "context"
    context.mkdir()
    (context / "here.txt").write_text("from the context")
    (context / "link.txt").symlink_to("here.txt")
    (tmp_path / "startup-hook.sh").write_text("echo hello from the hook\nexport HOOKED=yes\n")
    (tmp_path / "config.yaml").write_text("environment:\n  environment_variables: ['A=from file']\n")
    done = det(
        "cmd", "run", "--config-file", "config.yaml", "--context", str(context), "--include", "startup-hook.sh",
        "cat link.txt; echo A is $A and HOOKED is $HOOKED",
    )  # fmt: skip
    for text in ("from the context", "hello from the hook", "A is from file and HOOKED is yes"):
        assert text in done.stdout, done.stdout
    missing = det("cmd", "run", "--context", "non-existent-path", "true", check=False)
    assert (missing.returncode != 0, "non-existent-path' doesn't exist" in missing.stderr) == (True, True)


def test_wrong_requests_are_refused_in_words_that_scripts_know(det: Det) -> None:
    greedy = det("cmd", "run", "--config", "resources.slots=10485", "true", check=False)
    assert (greedy.returncode, "request unfulfillable" in greedy.stderr) == (1, True), greedy.stderr
    unknown = det("cmd", "logs", UNKNOWN, check=False)
    assert (unknown.returncode, "not found" in unknown.stderr + unknown.stdout) == (1, True), unknown.stderr
    template = det("cmd", "run", "--template", "none", "true", check=False)
    assert "template 'none' not found" in template.stderr


def test_a_context_above_the_limit_is_refused_and_detignore_makes_it_fit(det: Det, tmp_path: Path) -> None:
    context = tmp_path / "context"
    context.mkdir()
    with (context / "weights.bin").open("wb") as file:
        file.truncate(120 * 1024**2)
    refused = det("cmd", "run", "--context", str(context), "ls", check=False)
    assert refused.returncode == 1
    assert "maximum allowed size" in refused.stderr and ".detignore" in refused.stderr, refused.stderr
    (context / ".detignore").write_text("*.bin\n")
    (context / "small.txt").touch()
    done = det("cmd", "run", "--context", str(context), "ls")
    assert "small.txt" in done.stdout and "weights.bin" not in done.stdout


def test_a_variable_without_a_value_crashes_nothing(det: Det) -> None:
    key = "environment.environment_variables"
    for value in ('["A=1", "ONLY_A_NAME"]', "A=1,ONLY_A_NAME"):
        done = det("cmd", "run", "--config", f"{key}={value}", "echo A is $A")
        assert "A is 1" in done.stdout and "resources exited successfully" in done.stdout, done.stdout
    refused = det("cmd", "run", "--config", f"{key}=ONLY_A_NAME", "true", check=False)
    assert (refused.returncode, f"{key}: must be" in refused.stderr) == (1, True), refused.stderr


def test_administrators_clean_up_logs_past_their_retention(
    det: Det, cluster: Cluster, client: Client, tmp_path: Path
) -> None:
    config = write_experiment(tmp_path / "e", "print('soon gone')\n", {"retention_policy": {"log_retention_days": 0}})
    experiment = client.submit(config)
    client.wait_state(experiment, "COMPLETED")
    trial = client.trials(experiment)[0]["id"]
    assert "soon gone" in det("trial", "logs", str(trial)).stdout
    assert det("task", "cleanup-logs", check=False).returncode == 1
    det("user", "login", "admin", stdin="\n")
    cleaned = det("-u", "admin", "task", "cleanup-logs").stdout
    count = re.search(r"Deleted (\d+) rows of log entries", cleaned)
    assert count and int(count[1]) >= 1, cleaned
    assert "soon gone" not in det("-u", "admin", "trial", "logs", str(trial)).stdout


def test_programs_left_behind_write_for_det_log_wait_time(det: Det) -> None:
    script = "(sleep 3; echo after three; sleep 60; echo after sixty) & echo at once"
    done = det("cmd", "run", "--config", 'environment.environment_variables=["DET_LOG_WAIT_TIME=8"]', script)
    assert ("at once" in done.stdout, "after three" in done.stdout) == (True, True), done.stdout
    assert "after sixty" not in done.stdout.replace(script, "")


def test_task_logs_take_every_filter_that_the_fields_name(det: Det) -> None:
    task_id = launched(det("cmd", "run", "echo hello; echo hello >&2"))
    assert "hello" in det("task", "logs", task_id).stdout
    assert "hello" in det("task", "logs", "-f", task_id).stdout
    assert det("task", "logs", task_id, "--tail", "1").stdout != det("task", "logs", task_id, "--head", "1").stdout
    for flag, value in (("--stdtype", "stderr"), ("--source", "task"), ("--source", "master"), ("--rank-id", "-1")):
        shown = det("task", "logs", task_id, flag, value).stdout
        assert len(shown.splitlines()) > 1 or "hello" in shown, (flag, value, shown)


def create(det: Det, tmp_path: Path, config: str, *options: str) -> str:
    (tmp_path / "task.yaml").write_text(config)
    match = re.search(r"Created task (\S+)", det("task", "create", "task.yaml", *options).stdout)
    assert match
    return match[1]


def state(cluster: Cluster, task_id: str) -> str:
    found = Client(cluster.url).get(f"/api/v1/tasks/{task_id}")["task"]["taskState"]
    return str(found).removeprefix("GENERIC_TASK_STATE_")


def test_generic_tasks_complete_fail_fork_and_show_their_config(det: Det, cluster: Cluster, tmp_path: Path) -> None:
    done = create(det, tmp_path, "entrypoint: [echo, hello]\n")
    failed = create(det, tmp_path, 'entrypoint: ["exit", "1"]\n')
    eventually(lambda: state(cluster, done) == "COMPLETED" and state(cluster, failed) == "ERROR")
    assert json.loads(det("task", "config", done, "--json").stdout) == {"entrypoint": ["echo", "hello"]}
    fork = re.search(r"Created task (\S+)", det("task", "fork", done).stdout)
    assert fork
    eventually(lambda: state(cluster, fork[1]) == "COMPLETED")
    assert det("task", "config", fork[1]).stdout == det("task", "config", done).stdout
    assert det("task", "list").returncode == 0


def test_generic_tasks_pause_unpause_and_are_killed(det: Det, cluster: Cluster, tmp_path: Path) -> None:
    task_id = create(det, tmp_path, "entrypoint: [sleep, '5']\n")
    det("task", "pause", task_id)
    eventually(lambda: state(cluster, task_id) == "PAUSED")
    det("task", "unpause", task_id)
    assert state(cluster, task_id) in ("ACTIVE", "COMPLETED")
    eventually(lambda: state(cluster, task_id) == "COMPLETED")
    killed = create(det, tmp_path, "entrypoint: [sleep, '1000']\n")
    det("task", "kill", killed)
    eventually(lambda: state(cluster, killed) == "CANCELED")


OPENING = """
import time
from determined.experimental import client
client.login()
b, session = bindings, client._determined._session
"""
OF_A_NOUN = """
def answer_{noun}(**more):
    asked = dict(config={{"entrypoint": ["sleep", "100"], "resources": {{"slots": 0}}}}, **more)
    made = b.post_Launch{Noun}(session, body=b.v1Launch{Noun}Request(**asked))
    task = made.{noun}
    assert made.config["description"] == task.description, made.config
    assert task.id in [one.id for one in b.get_Get{Noun}s(session, users=["determined"]).{noun}s]
    got = b.get_Get{Noun}(session, {noun}Id=task.id)
    assert got.{noun}.id == task.id and got.config
    shown = b.post_Set{Noun}Priority(session, {noun}Id=task.id, body=b.v1Set{Noun}PriorityRequest(priority=33))
    assert shown.{noun}.id == task.id
    if "{noun}" == "notebook":
        b.put_IdleNotebook(session, notebookId=task.id, body=b.v1IdleNotebookRequest(idle=False, notebookId=task.id))
    assert b.get_GetTask(session, taskId=task.id).task.taskId == task.id
    assert b.post_Kill{Noun}(session, {noun}Id=task.id).{noun}.id == task.id
    assert b.post_Kill{Noun}(session, {noun}Id=task.id).{noun}.id == task.id
"""
GENERIC = """
config = "entrypoint: [sh, -c, 'echo begun; sleep 100']"
asked = b.v1CreateGenericTaskRequest(config=config, contextDirectory=[], projectId=1)
made = b.post_CreateGenericTask(session, body=asked)
task_id = made.taskId
assert b.get_GetGenericTaskConfig(session, taskId=task_id).config
assert b.get_GetTaskContextDirectory(session, taskId=task_id).b64Tgz is not None
assert any("begun" in line.message for line in b.get_TaskLogs(session, taskId=task_id, follow=True))
assert b.get_GetTaskAcceleratorData(session, taskId=task_id).acceleratorData is not None
line = b.v1TaskLog(taskId=task_id, log="from outside\\n")
b.post_PostTaskLogs(session, body=b.v1PostTaskLogsRequest(logs=[line]))
fields = list(b.get_TaskLogsFields(session, taskId=task_id))
assert fields and fields[0].stdtypes, fields
b.post_PauseGenericTask(session, taskId=task_id)
for _ in range(600):
    if b.get_GetTask(session, taskId=task_id).task.taskState == b.v1GenericTaskState.PAUSED:
        break
    time.sleep(0.2)
b.post_UnpauseGenericTask(session, taskId=task_id)
b.post_KillGenericTask(session, taskId=task_id, body=b.v1KillGenericTaskRequest(killFromRoot=False, taskId=task_id))
assert b.get_GetActiveTasksCount(session) and b.get_GetTasks(session)
"""


def run_bindings(cluster: Cluster, home: Path, body: str) -> None:
    env = clean_environment(
        HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), XDG_DATA_HOME=str(home / "data"), DET_MASTER=cluster.url
    )
    done = subprocess.run(
        [str(official_python()), "-W", "ignore", "-c", COUNTED + OPENING + body + "\nprint('all answered')"],
        capture_output=True,
        text=True,
        env=env,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert "all answered" in done.stdout, f"{done.stdout}\n{done.stderr}"


def test_every_operation_of_the_four_nouns_answers_the_bindings(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    experiment = client.submit(write_experiment(tmp_path / "e", "pass\n"))
    nouns = ("command", "notebook", "shell", "tensorboard")
    calls = [OF_A_NOUN.format(noun=noun, Noun=noun.capitalize()) for noun in nouns]
    calls += [f"answer_{noun}()" for noun in nouns[:-1]]
    calls += [f"answer_tensorboard(experimentIds=[{experiment}])"]
    run_bindings(cluster, home, "\n".join([*calls, 'all_called("(?:commands|notebooks|shells|tensorboards)", 21)']))


def test_every_operation_of_generic_tasks_answers_the_bindings(cluster: Cluster, home: Path) -> None:
    run_bindings(cluster, home, GENERIC + 'all_called("(?:tasks?|generic-tasks)", 13)\n')
