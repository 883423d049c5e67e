"""The tree of the files that an experiment was submitted with."""

import io
import tarfile

from determined.master.services.model_definition import _place, _read_tree
from determined.wire.model_definition import FileNode


def _archive(names: list[str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name))
    return buffer.getvalue()


def test_files_stand_in_their_directories_in_order() -> None:
    tree = _read_tree(_archive(["b/c/two.py", "b/one.py", "a.py"]))
    assert [(node.name, node.is_dir) for node in tree] == [("a.py", False), ("b", True)]
    inside = tree[1].files or []
    assert [node.path for node in inside] == ["b/c", "b/one.py"]
    assert [node.path for node in inside[0].files or []] == ["b/c/two.py"]


def test_a_directory_grows_in_place() -> None:
    """A new list for each file made the tree of 60,000 files take half a minute."""
    nodes = {"": FileNode(files=[], is_dir=True, path="", name="")}
    _place(nodes, tarfile.TarInfo("many/0"))
    top, inside = nodes[""].files, nodes["many"].files
    for number in range(1, 100):
        _place(nodes, tarfile.TarInfo(f"many/{number}"))
        _place(nodes, tarfile.TarInfo(f"more{number}/x"))
    assert nodes[""].files is top and nodes["many"].files is inside
    assert (len(top or []), len(inside or [])) == (100, 100)
