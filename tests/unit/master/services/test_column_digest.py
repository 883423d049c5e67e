"""Keys of user data with their types and values."""

from determined.master.services.column_digest import MAX_VALUES, digest


def test_nested_keys_become_paths_with_their_types() -> None:
    found = digest([{"net": {"width": 8, "act": "relu"}, "lr": 1}, {"net": {"width": 0.5}, "lr": "auto", "x": None}])
    assert list(found) == ["lr", "net.act", "net.width", "x"]
    assert [facts.numeric for facts in found.values()] == [False, False, True, True]
    assert found["lr"].shown() == [1, "auto"] and found["x"].shown() == []


def test_values_are_told_apart_by_type_and_listed_up_to_a_number() -> None:
    found = digest(
        [{"a": True, "b": [1]}, {"a": 1, "b": [2]}, {"a": False}, *({"n": n} for n in range(MAX_VALUES + 1))]
    )
    assert found["a"].shown() == [False, True, 1] and not found["a"].numeric
    assert found["b"].shown() == [] and not found["b"].numeric
    assert found["n"].more and len(found["n"].shown()) == MAX_VALUES and not found["a"].more


def test_keys_with_dots_are_left_out() -> None:
    assert list(digest([{"a.b": 1, "c": {"d.e": 1}}])) == []
