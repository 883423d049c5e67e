"""The official client, determined==0.38.1, with templates on our master: command line, bindings and SDK."""

import json
import subprocess
from pathlib import Path

import pytest
from official_calls import COUNTED
from official_det import Det

from cluster import HANG_SECONDS, Client, Cluster, clean_environment, official_python, write_experiment

pytestmark = pytest.mark.official

SCRIPT = """\
import sys
from determined.common import api
from determined.common.api import bindings as b
from determined.experimental import client
client.login(sys.argv[1], "determined", "")
session = client._determined._session
lab = b.post_PostWorkspace(session, body=b.v1PostWorkspaceRequest(name="lab of bindings")).workspace.id
made = b.post_PostTemplate(session, template_name="one", body=b.v1Template(name="one", config={"a": 1}, workspaceId=0))
assert (made.template.name, made.template.workspaceId, made.template.config) == ("one", 1, {"a": 1})
try:
    b.post_PostTemplate(session, template_name="one", body=b.v1Template(name="one", config={}, workspaceId=0))
    raise SystemExit("a second one of the same name")
except api.errors.APIException as e:
    assert e.status_code == 409, e
put = b.put_PutTemplate(session, template_name="two", body=b.v1Template(name="two", config={"b": 2}, workspaceId=lab))
assert put.template.workspaceId == lab
assert b.patch_PatchTemplateConfig(session, templateName="one", body={"c": 3}).template.config == {"c": 3}
body = b.v1PatchTemplateNameRequest(oldName="one", newName="three")
assert b.patch_PatchTemplateName(session, body=body).template.name == "three"
assert b.get_GetTemplate(session, templateName="three").template.config == {"c": 3}
by_name = b.v1GetTemplatesRequestSortBy.NAME
page = b.get_GetTemplates(session, name="T", limit=1, orderBy=b.v1OrderBy.DESC, sortBy=by_name)
assert ([t.name for t in page.templates], page.pagination.total) == (["two"], 2), page
assert [t.name for t in b.get_GetTemplates(session, workspaceIds=[lab]).templates] == ["two"]
try:
    b.get_GetTemplate(session, templateName="one")
    raise SystemExit("the old name is still there")
except api.errors.NotFoundException as e:
    assert "template 'one' not found" in str(e), e
b.delete_DeleteTemplate(session, templateName="three")
b.delete_DeleteWorkspace(session, id=lab)
assert b.get_GetTemplates(session, name="t").templates == []
all_called("templates?", 7)
print("done")
"""
SUBMIT = """\
import sys
from determined.experimental import client
client.login(sys.argv[1], "determined", "")
made = client.create_experiment(sys.argv[2], sys.argv[3], template="sdk")
made.wait()
print(made.id)
"""


def test_det_template_creates_lists_describes_changes_and_removes(det: Det, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("max_restarts: 2\nresources:\n  weight: 3\n")
    (tmp_path / "u.yaml").write_text("max_restarts: 4\n")
    assert "Created template tpl" in det("template", "create", "tpl", "t.yaml", "-w", "Uncategorized").stdout
    again = det("template", "create", "tpl", "t.yaml", check=False)
    assert (again.returncode, "already a template 'tpl'" in again.stderr) == (1, True), again.stderr
    assert "weight: 3" in det("template", "describe", "tpl").stdout
    rows = [line.split("|") for line in det("tpl", "list").stdout.splitlines() if "tpl" in line]
    assert [cell.strip() for cell in rows[0]] == ["tpl", "Uncategorized"]
    assert "weight: 3" in det("tpl", "ls", "-d").stdout
    assert "Updated template tpl" in det("template", "set-value", "config", "tpl", "u.yaml").stdout
    assert det("template", "describe", "tpl").stdout.strip() == "max_restarts: 4", "nothing of the former is left"
    assert "Set template tpl" in det("template", "set", "tpl", "t.yaml").stdout
    assert "Set template new" in det("template", "set", "new", "t.yaml").stdout
    for name in ("tpl", "new"):
        assert f"Removed template {name}" in det("template", "rm", name).stdout
    gone = det("template", "describe", "tpl", check=False)
    assert (gone.returncode, "template 'tpl' not found" in gone.stderr) == (1, True), gone.stderr


def test_tasks_take_what_they_know_of_a_template(det: Det, tmp_path: Path) -> None:
    """Upstream's own tests use such a template: its slots and the label do nothing."""
    template = {
        "environment": {"environment_variables": ["SHOULDBE=SET"]},
        "resources": {"slots": 100, "agent_label": "x"},
        "searcher": {"name": "single"},
    }
    (tmp_path / "t.json").write_text(json.dumps(template))
    det("template", "create", "of-tasks", "t.json")
    task_id = det("cmd", "run", "-d", "--template", "of-tasks", "sleep", "100").stdout.strip()
    assert "SHOULDBE=SET" in det("cmd", "config", task_id).stdout
    det("cmd", "kill", task_id)
    shown = det("cmd", "run", "--template", "of-tasks", "echo it is $SHOULDBE").stdout
    assert "it is SET" in shown
    preview = det("notebook", "start", "--preview", "--template", "of-tasks").stdout
    assert "SHOULDBE=SET" in preview
    det("template", "rm", "of-tasks")


def test_an_experiment_is_laid_over_its_template(det: Det, cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("max_restarts: 0\nlabels: [shared]\nhyperparameters: {lr: 0.5}\n")
    det("template", "create", "exp", "t.yaml")
    config = write_experiment(tmp_path / "code", "print('trained')\n", {"labels": ["mine"]})
    det("experiment", "create", str(config), str(config.parent), "--template", "exp", "--paused")
    newest = Client(cluster.url).get("/api/v1/experiments?orderBy=ORDER_BY_DESC&limit=1")["experiments"][0]
    assert set(newest["labels"]) == {"mine", "shared"} and newest["hyperparameters"]["lr"]["val"] == 0.5
    absent = det("experiment", "create", str(config), str(config.parent), "--template", "none", check=False)
    assert (absent.returncode, "template 'none' not found" in absent.stderr) == (1, True), absent.stderr
    det("template", "rm", "exp")


def test_every_operation_of_the_bindings_answers_as_the_client_expects(cluster: Cluster, home: Path) -> None:
    assert _python(home, COUNTED + SCRIPT, cluster.url).splitlines()[-1] == "done"


def test_the_sdk_submits_with_a_template(cluster: Cluster, home: Path, tmp_path: Path) -> None:
    Client(cluster.url).post("/api/v1/templates/sdk", {"config": {"description": "of the template"}})
    config = write_experiment(tmp_path / "code", "print('trained')\n")
    made = _python(home, SUBMIT, cluster.url, str(config), str(config.parent)).splitlines()[-1]
    shown = Client(cluster.url).get(f"/api/v1/experiments/{made}")["experiment"]
    assert (shown["description"], shown["template"]) == ("of the template", "sdk")


def _python(home: Path, script: str, *words: str) -> str:
    done = subprocess.run(
        [str(official_python()), "-W", "ignore", "-c", script, *words],
        env=clean_environment(HOME=str(home)),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
