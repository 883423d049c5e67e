"""A model definition as a browser sends it: files of a dropped folder, without entries for its directories."""

import json
from typing import Any


def create(client: Any, config: Any, *files: dict[str, Any]) -> Any:
    return client.post("/api/v1/experiments", {"config": json.dumps(config()), "modelDefinition": list(files)})


def test_nested_files_without_directories_are_kept(user: Any, config: Any, files: Any) -> None:
    answer = create(user, config, files("train.py", b"print(1)"), files("src/net/a.py", "\u00e9".encode()))
    assert answer.status == 200, answer.raw
    path = f"/api/v1/experiments/{answer.json['experiment']['id']}/file_tree"
    [directory, script] = user.get(path).json["files"]
    assert (directory["path"], directory["isDir"], script["path"]) == ("src", True, "train.py")
    assert directory["files"][0]["files"][0]["path"] == "src/net/a.py"


def test_faulty_files_are_named(user: Any, config: Any, files: Any) -> None:
    broken = create(user, config, files("a.py") | {"content": "not base64!"})
    assert broken.status == 400 and "'a.py'" in broken.message and "base64" in broken.message
    outside = create(user, config, files("/etc/passwd", b"x"))
    assert outside.status == 400 and "/etc/passwd" in outside.message
    incomplete = create(user, config, {"path": "a.py", "content": ""})
    assert incomplete.status == 400 and "modelDefinition[0]" in incomplete.message
    assert user.get("/api/v1/experiments").json["experiments"] == []
