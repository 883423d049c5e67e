"""The search box finds anything by id or name."""

from typing import Any


def hits(client: Any, text: str, **more: Any) -> list[tuple[str, str]]:
    answer = client.get("/api/v1/search", fields={"q": text, **more})
    assert answer.status == 200, answer.raw
    return [(hit["kind"], hit["name"]) for hit in answer.json["hits"]]


def test_names_are_found_the_closest_and_newest_first(user: Any, submit: Any) -> None:
    for name in ("big resnet", "resnet50", "ResNet", "other", "resnet18"):
        submit(user, name=name)
    names = ["ResNet", "resnet18", "resnet50", "big resnet"]
    assert hits(user, "resnet") == [("experiment", name) for name in names]
    assert hits(user, " resnet ", limit=1) == [("experiment", "ResNet")]
    assert hits(user, "100%") == [] and hits(user, "") == [] and hits(user, "  ") == []


def test_numbers_and_short_words_name_things_by_id(user: Any, submit: Any) -> None:
    submit(user, name="number 1 of all")
    submit(user, name="second")
    assert hits(user, "1")[:2] == [("experiment", "number 1 of all"), ("trial", "Trial 1")]
    for text in ("t 2", "t2", "trial:2", "run #2", "T 2"):
        assert hits(user, text)[0] == ("trial", "Trial 2"), text
    assert hits(user, "e 2")[0] == ("experiment", "second")
    [found] = [h for h in user.get("/api/v1/search", fields={"q": "t 2"}).json["hits"] if h["kind"] == "trial"]
    assert found["path"] == "/experiments/2/trials/2" and "second" in found["detail"]
    assert hits(user, "99999999999999999999999") == []


def test_projects_workspaces_users_and_pools_are_found(user: Any, new_project: Any) -> None:
    project = new_project(user)
    assert hits(user, "p P")[0] == ("project", "p")
    assert ("workspace", "lab") in hits(user, "lab")
    assert ("user", "determined") in hits(user, "determ")
    assert hits(user, "pool default")[0] == ("pool", "default")
    found = user.get("/api/v1/search", fields={"q": "project p"}).json["hits"][0]
    assert found["path"] == f"/projects/{project}" and found["detail"] == "lab"


def test_case_does_not_matter_in_any_alphabet(user: Any, submit: Any) -> None:
    submit(user, name="Übung 1%")
    for text in ("übung", "ÜBUNG", "Ü", "übung 1%"):
        assert hits(user, text) == [("experiment", "Übung 1%")], text
    assert hits(user, "ubung") == [] and hits(user, "ü_ung") == []


def test_text_of_any_length_is_answered(user: Any) -> None:
    assert hits(user, "9" * 5000) == hits(user, "t " + "9" * 5000) == hits(user, "x" * 60_000) == []


def test_the_number_of_hits_is_bounded(user: Any, submit: Any) -> None:
    for n in range(23):
        submit(user, name=f"many {n}")

    def found(**limit: int) -> int:
        answer = user.get("/api/v1/search", fields={"q": "many", **limit})
        assert answer.status == 200, answer.raw
        return len(answer.json["hits"])

    assert found() == found(limit=0) == found(limit=-1) == 20
    assert (found(limit=3), found(limit=1000)) == (3, 23)
