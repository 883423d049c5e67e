"""Links by which the owner of a notebook lets others use it."""

from typing import Any
from urllib.parse import urlsplit

from proxy_ground import Ground, Served
from small_app import SmallApp
from tracked import until

from browser import Browser
from determined.exec.master_link import MasterLink
from determined.exec.runner.tunnel import Tunnel
from determined.wire.report import Service


def _notebook(ground: Ground, owner: Any, app: SmallApp) -> Served:
    """A running notebook of this owner, whose server is `app`."""
    before = set(ground.engine.launches)
    answer = owner.post("/api/v1/notebooks", {"config": {"resources": {"slots": 0}}})
    assert answer.status == 200, answer.raw
    until(lambda: set(ground.engine.launches) - before)
    launch = ground.engine.launches[(set(ground.engine.launches) - before).pop()]
    services = [Service(port=app.port)]
    link = MasterLink(ground._launch_file(launch))
    served = Served(answer.json["notebook"]["id"], launch, services, Tunnel(link, services))
    ground.served.append(served)
    ground.connect(served)
    return served


def _share(owner: Any, task: Served) -> str:
    answer = owner.post(f"/api/v1/tasks/{task.task_id}/share")
    assert answer.status == 200, answer.raw
    return str(answer.json["address"])


def _address(ground: Ground, path: str) -> str:
    return f"http://localhost:{ground.address.partition(':')[2]}{path}"


def test_whoever_has_the_link_uses_the_notebook_without_a_login(ground: Any, make_app: Any) -> None:
    app = make_app()
    task = _notebook(ground, ground.admin, app)
    link = _share(ground.admin, task)
    stranger = Browser(ground.address)
    page = stranger.open(_address(ground, link))
    assert page.status == 200
    assert urlsplit(page.url).hostname == f"{task.task_id}.localhost"
    assert "token" not in page.url
    assert stranger.fetch(page, "api/kernels").status == 200
    token = link.rpartition("=")[2]
    assert all(token not in str(received) for received in app.received), "the link's token is not for the app"


def test_a_withdrawn_link_and_what_came_by_it_are_void_at_once(ground: Any, make_app: Any) -> None:
    task = _notebook(ground, ground.admin, make_app())
    link = _share(ground.admin, task)
    stranger = Browser(ground.address)
    page = stranger.open(_address(ground, link))
    assert ground.admin.delete(f"/api/v1/tasks/{task.task_id}/share").status == 200
    assert stranger.fetch(page, "api/kernels").status == 401
    assert Browser(ground.address).open(_address(ground, link)).status == 401


def test_a_new_link_voids_the_one_before(ground: Any, make_app: Any) -> None:
    task = _notebook(ground, ground.admin, make_app())
    first = _share(ground.admin, task)
    page = (early := Browser(ground.address)).open(_address(ground, first))
    second = _share(ground.admin, task)
    assert first != second
    assert early.fetch(page, "api/kernels").status == 401
    assert Browser(ground.address).open(_address(ground, first)).status == 401
    assert Browser(ground.address).open(_address(ground, second)).status == 200


def test_only_its_owner_and_administrators_share_a_notebook(ground: Any, make_app: Any) -> None:
    owner, other = ground.person("owner"), ground.person("other")
    task = _notebook(ground, owner, make_app())
    path = f"/api/v1/tasks/{task.task_id}/share"
    assert other.post(path).status == 403
    assert other.delete(path).status == 403
    assert owner.post(path).status == 200
    assert ground.admin.post(path).status == 200


def test_a_link_opens_neither_another_task_nor_the_api(ground: Any, make_app: Any) -> None:
    app = make_app()
    shared, other = _notebook(ground, ground.admin, app), _notebook(ground, ground.admin, app)
    token = _share(ground.admin, shared).rpartition("=")[2]
    assert Browser(ground.address).open(_address(ground, f"/proxy/{other.task_id}/?token={token}")).status == 401
    assert ground.raw("GET", "/api/v1/me", {"Authorization": f"Bearer {token}"}).status == 401
    assert ground.raw("GET", f"/api/v1/notebooks/{shared.task_id}?token={token}").status == 401


def test_commands_have_no_page_to_share(ground: Any) -> None:
    command = ground.admin.post("/api/v1/commands", {"config": {"entrypoint": ["true"]}}).json["command"]["id"]
    refused = ground.admin.post(f"/api/v1/tasks/{command}/share")
    assert (refused.status, "only notebooks and TensorBoards have one" in refused.message) == (400, True)
    assert ground.admin.post("/api/v1/tasks/none/share").status == 404
