"""The program of a notebook with the real JupyterLab, over its Unix socket."""

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served_program import PREFIX, ServedProgram, shared_cache
from websockets.sync.client import unix_connect

from determined.exec.notebook.idle import IdleRule, asker
from determined.storage.shared_fs.config import section_at
from determined.wire.notebook_settings import NotebookSettings, SavedFiles

TOKEN = "sesame"
USER = "cluster/notebooks/user-7"
NOTEBOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def notebook(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedProgram]:
    """A running one. Its environments are built once for all tests here."""
    settings = NotebookSettings(token=TOKEN, saved_files=SavedFiles(storage=section_at(str(store)), prefix=USER))
    place, cache = tmp_path_factory.mktemp("notebook"), shared_cache(tmp_path_factory.getbasetemp())
    with ServedProgram("determined.exec.notebook", settings, place, cache=cache) as program:
        program.wait_for(r"Jupyter Server .* is running")
        program.wait_for_socket()
        yield program


def test_the_token_opens_the_server_and_nothing_else_does(notebook: ServedProgram) -> None:
    assert notebook.request("GET", "api/status", token=TOKEN)[0] == 200
    assert notebook.request("GET", "api/status")[0] == 403
    assert notebook.request("GET", "api/status", token="other")[0] == 403
    status, page = notebook.request("GET", "lab", token=TOKEN)
    assert status == 200 and f'"baseUrl": "{PREFIX}"'.encode() in page


def test_only_its_user_reaches_it_and_no_port_is_open(notebook: ServedProgram) -> None:
    assert notebook.socket.stat().st_mode & 0o777 == 0o600
    assert notebook.listening_ports() == []


def test_its_page_asks_nobody_about_news(notebook: ServedProgram) -> None:
    page = notebook.request("GET", "lab/api/settings/@jupyterlab/apputils-extension:notification", token=TOKEN)[1]
    assert page["schema"]["properties"]["fetchNews"]["default"] == "false"


def test_lines_of_the_log_have_a_level_and_a_name(notebook: ServedProgram) -> None:
    assert re.search(r"^INFO: \[ServerApp\] Jupyter Server [\d.]+ is running", notebook.log, re.MULTILINE)
    assert TOKEN not in notebook.log


def test_a_cell_runs_in_the_tasks_python_with_determined(notebook: ServedProgram) -> None:
    kernel = notebook.request("POST", "api/kernels", {"name": "python3"}, token=TOKEN)[1]
    output = _run(notebook, kernel["id"], "import sys, determined; print(sys.executable, determined.__file__)")
    assert output.split() == [sys.executable, str(_package() / "__init__.py")]
    assert _run(notebook, kernel["id"], "import jupyterlab") == "ModuleNotFoundError", "the server's are not lent"
    assert notebook.request("DELETE", f"api/kernels/{kernel['id']}", token=TOKEN)[0] == 204


def test_a_kernel_restarts(notebook: ServedProgram) -> None:
    kernel = notebook.request("POST", "api/kernels", {"name": "python3"}, token=TOKEN)[1]
    _run(notebook, kernel["id"], "here = 1")
    assert notebook.request("POST", f"api/kernels/{kernel['id']}/restart", token=TOKEN)[0] == 200
    assert _run(notebook, kernel["id"], "here") == "NameError"
    notebook.request("DELETE", f"api/kernels/{kernel['id']}", token=TOKEN)


def test_use_is_seen_by_kernels_and_terminals(notebook: ServedProgram) -> None:
    rule, ask = IdleRule("kernels_or_terminals"), asker(notebook.socket, PREFIX, TOKEN)
    assert rule.look(ask)
    terminal = notebook.request("POST", "api/terminals", token=TOKEN)[1]
    assert not rule.look(ask)
    notebook.request("DELETE", f"api/terminals/{terminal['name']}", token=TOKEN)
    assert rule.look(ask)


def test_use_is_seen_by_activity_and_looks_are_none(notebook: ServedProgram) -> None:
    rule, ask = IdleRule("activity"), asker(notebook.socket, PREFIX, TOKEN)
    rule.look(ask)
    assert rule.look(ask)
    notebook.request("GET", "api/contents", token=TOKEN)
    assert not rule.look(ask)


def test_use_is_seen_by_connections_of_kernels(notebook: ServedProgram) -> None:
    rule, ask = IdleRule("kernel_connections"), asker(notebook.socket, PREFIX, TOKEN)
    kernel = notebook.request("POST", "api/kernels", {"name": "python3"}, token=TOKEN)[1]
    assert rule.look(ask)
    with _channels(notebook, kernel["id"]):
        assert not rule.look(ask)
    notebook.request("DELETE", f"api/kernels/{kernel['id']}", token=TOKEN)


def test_a_terminal_has_the_tasks_python_first(notebook: ServedProgram) -> None:
    name = notebook.request("POST", "api/terminals", token=TOKEN)[1]["name"]
    headers = {"Authorization": f"token {TOKEN}"}
    uri = f"ws://localhost{PREFIX}terminals/websocket/{name}"
    with unix_connect(str(notebook.socket), uri, additional_headers=headers) as connection:
        connection.send(json.dumps(["stdin", "echo shell is $SHELL in $PWD\r"]))
        seen = ""
        while f"shell is /bin/bash in {notebook.work_dir}" not in seen:
            kind, *rest = json.loads(connection.recv(timeout=60))
            seen += rest[0] if kind == "stdout" else ""
    notebook.request("DELETE", f"api/terminals/{name}", token=TOKEN)


def test_notebooks_outlive_the_task(notebook: ServedProgram, store: Path) -> None:
    page = json.loads((notebook.work_dir / "README.ipynb").read_text())["cells"][0]["source"]
    assert "notebooks/" in page and USER in page
    assert _save(notebook, "notebooks/mine.ipynb") == 201
    assert (store / USER / "mine.ipynb").is_file(), "what is saved there is in the store at once"
    (notebook.work_dir / "analysis").mkdir()
    assert _save(notebook, "analysis/loose.ipynb") == 201
    assert notebook.stop() == 0
    saved = sorted(path.relative_to(store / USER).as_posix() for path in (store / USER).rglob("*.ipynb"))
    kept = [name for name in saved if ".ipynb_checkpoints" not in name]
    assert kept == ["from-0a1b2c3d/analysis/loose.ipynb", "mine.ipynb"]


def _save(notebook: ServedProgram, path: str) -> int:
    return notebook.request("PUT", f"api/contents/{path}", {"type": "notebook", "content": NOTEBOOK}, token=TOKEN)[0]


def _channels(notebook: ServedProgram, kernel_id: str) -> Any:
    uri = f"ws://localhost{PREFIX}api/kernels/{kernel_id}/channels"
    return unix_connect(str(notebook.socket), uri, additional_headers={"Authorization": f"token {TOKEN}"})


def _run(notebook: ServedProgram, kernel_id: str, code: str) -> str:
    """Return what a cell prints, or the name of its error."""
    header = {"msg_id": f"m{time.monotonic_ns()}", "msg_type": "execute_request", "username": "", "session": "s"}
    cell = {"code": code, "silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": cell, "channel": "shell"}
    printed, error, awaited = "", None, {"reply", "idle"}
    with _channels(notebook, kernel_id) as connection:
        connection.send(json.dumps(message))
        # Output and reply come over two sockets of the kernel: either may be first. Idle follows the last output.
        while awaited:
            answer = json.loads(connection.recv(timeout=60))
            kind, content = answer["msg_type"], answer["content"]
            if answer["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            if kind == "stream":
                printed += content["text"]
            elif kind == "execute_reply":
                error = content.get("ename")
                awaited.discard("reply")
            elif kind == "status" and content["execution_state"] == "idle":
                awaited.discard("idle")
    return error or printed


def _package() -> Path:
    import determined

    return Path(determined.__file__).parent
