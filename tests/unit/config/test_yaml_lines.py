"""Lines of a YAML text by the paths of its values."""

from determined.schema.yaml_lines import line_of, lines_of

TEXT = """\
# a comment
name: x
base: &base
  metric: loss
searcher:
  <<: *base
  name: single
bind_mounts:
  - host_path: /a
    container_path: /b
  - {host_path: /c,
     container_path: /d}
flow: {deep: {er: 1}}
"""


def test_keys_and_entries_have_their_lines() -> None:
    lines = lines_of(TEXT)
    assert lines["name"] == 2 and lines["searcher.name"] == 7
    assert lines["bind_mounts[0]"] == 9 and lines["bind_mounts[0].container_path"] == 10
    assert lines["bind_mounts[1].container_path"] == 12
    assert lines["flow.deep.er"] == 13


def test_what_is_not_there_has_the_line_of_what_is_around_it() -> None:
    lines = lines_of(TEXT)
    assert line_of(lines, "searcher.max_trials") == 5
    assert line_of(lines, "bind_mounts[1].nothing.at.all") == 11
    assert line_of(lines, "bind_mounts[7]") == 8
    assert line_of(lines, "resources.slots") is None
    assert line_of(lines, "") is None


def test_text_that_is_not_yaml_has_no_lines() -> None:
    assert lines_of("a: [") == {} and lines_of("") == {} and lines_of("[" * 500) == {}


def test_aliases_cost_nothing() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    assert lines_of(bomb)["a59"] == 60
    assert lines_of("a: &a {b: *a}")["a.b"] == 1
