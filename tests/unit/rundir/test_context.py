"""The context directory: what is sent, what is refused, what comes out again."""

import io
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from determined.errors import AlreadyExists, InvalidArgument, NotFound, TooLarge
from determined.rundir import context
from determined.wire.experiment import File


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def names(files: list[File]) -> list[str]:
    return sorted(entry.path for entry in files)


def archive(*members: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as out:
        for member in members:
            out.addfile(member, io.BytesIO(b"x" * member.size))
    return buffer.getvalue()


def test_packed_directory_comes_out_the_same(tmp_path: Path) -> None:
    root = write(tmp_path / "src", a_dot_txt="alpha", sub__b_dot_py="beta")
    (root / "sub" / "b.py").chmod(0o755)
    (root / "empty").mkdir()
    os.utime(root / "a.txt", (1000, 1000))
    out = tmp_path / "out"
    context.unpack(context.pack_files(context.read_directory(root)), out)
    assert (out / "a.txt").read_text() == "alpha"
    assert (out / "a.txt").stat().st_mtime == 1000
    assert (out / "sub" / "b.py").stat().st_mode & 0o777 == 0o755
    assert (out / "empty").is_dir()


def test_built_in_and_own_ignore_rules_apply(tmp_path: Path) -> None:
    root = write(tmp_path, keep_dot_py="", data__big_dot_bin="", logs__x_dot_log="", keep_dot_log="")
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "m.pyc").write_text("")
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("")
    (root / "shared_fs").mkdir()
    (root / ".detignore").write_text("data/\n*.log\n!keep.log\n")
    found = names(context.read_directory(root))
    assert "keep.py" in found
    assert "keep.log" in found
    assert "logs" in found
    for absent in ("data", "data/big.bin", "logs/x.log", "__pycache__", ".git", ".git/HEAD", "shared_fs", ".detignore"):
        assert absent not in found


def test_environments_stay_behind_by_what_they_are_not_by_their_name_and_are_named(tmp_path: Path) -> None:
    root = write(tmp_path, train_dot_py="", venv__model_dot_py="", sub__env__pyvenv_dot_cfg="")
    write(root / ".venv" / "lib", torch_dot_py="")
    (root / ".venv" / "pyvenv.cfg").touch()
    (root / "node_modules").mkdir()
    said: list[str] = []
    assert names(context.read_directory(root, notice=said.append)) == ["sub", "train.py", "venv", "venv/model.py"]
    (line,) = said
    assert ".venv, sub/env" in line and "!.venv into .detignore" in line


def test_an_environment_that_detignore_asks_for_is_sent(tmp_path: Path) -> None:
    root = write(tmp_path, a_dot_py="")
    write(root / ".venv" / "lib", torch_dot_py="")
    (root / ".venv" / "pyvenv.cfg").touch()
    (root / ".git").mkdir()
    (root / ".detignore").write_text("!.venv\n!.git\n")
    said: list[str] = []
    found = names(context.read_directory(root, notice=said.append))
    assert {".venv/lib/torch.py", ".venv/pyvenv.cfg", ".git"} <= set(found)
    assert said == []


def test_includes_keep_their_name_and_their_own_ignore_file(tmp_path: Path) -> None:
    root = write(tmp_path / "ctx", main_dot_py="")
    lib = write(tmp_path / "lib", a_dot_py="", b_dot_tmp="")
    (lib / ".detignore").write_text("*.tmp\n")
    single = write(tmp_path, extra_dot_txt="x") / "extra.txt"
    assert names(context.read_directory(root, [lib, single])) == ["extra.txt", "lib", "lib/a.py", "main.py"]


def test_two_root_entries_of_one_name_are_refused(tmp_path: Path) -> None:
    root = write(tmp_path / "ctx", lib__x_dot_py="")
    lib = write(tmp_path / "lib", y_dot_py="")
    with pytest.raises(AlreadyExists, match="'lib' is in the context twice"):
        context.read_directory(root, [lib])


def test_context_must_be_an_existing_directory(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        context.read_directory(tmp_path / "none")
    file = write(tmp_path, f="") / "f"
    with pytest.raises(InvalidArgument, match="not a directory"):
        context.read_directory(file)
    with pytest.raises(NotFound, match="included path"):
        context.read_directory(None, [tmp_path / "none"])


def test_context_over_the_limit_points_to_detignore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path, a="x" * 600, b="x" * 600)
    monkeypatch.setattr(context, "MAX_CONTEXT_BYTES", 1000)
    with pytest.raises(TooLarge, match=r"\.detignore"):
        context.read_directory(root)
    monkeypatch.setattr(context, "MAX_CONTEXT_BYTES", 2000)
    files = context.read_directory(root)
    monkeypatch.setattr(context, "MAX_CONTEXT_BYTES", 1000)
    with pytest.raises(TooLarge, match=r"\.detignore"):
        context.pack_files(files)


def test_linked_file_is_copied_linked_directory_is_empty_and_a_dangling_link_is_skipped(tmp_path: Path) -> None:
    root = write(tmp_path / "ctx", real_dot_txt="text", d__inner="")
    (root / "link.txt").symlink_to("real.txt")
    (root / "dlink").symlink_to("d")
    (root / "broken").symlink_to("nowhere")
    notices: list[str] = []
    files = context.read_directory(root, notice=notices.append)
    assert names(files) == ["d", "d/inner", "dlink", "link.txt", "real.txt"]
    assert notices == [f"Error reading '{root / 'broken'}', skipping this file."]
    out = tmp_path / "out"
    context.unpack(context.pack_files(files), out)
    assert (out / "link.txt").read_text() == "text"
    assert not (out / "link.txt").is_symlink()
    assert list((out / "dlink").iterdir()) == []


def test_size_of_an_entry_is_that_of_its_file(tmp_path: Path) -> None:
    for length in range(5):
        write(tmp_path, f="x" * length)
        assert context.content_size(context.read_directory(tmp_path)[0]) == length


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../b", ""])
def test_path_outside_the_context_is_refused_when_packing(path: str) -> None:
    entry = File(path=path, type=48, content="", mtime="0", mode=0o644, uid=0, gid=0)
    with pytest.raises(InvalidArgument, match="outside the context"):
        context.pack_files([entry])


def test_content_that_is_no_base64_is_refused() -> None:
    entry = File(path="a", type=48, content="***", mtime="0", mode=0o644, uid=0, gid=0)
    with pytest.raises(InvalidArgument, match="not base64"):
        context.pack_files([entry])


def test_archive_member_cannot_leave_the_directory(tmp_path: Path) -> None:
    escape = tarfile.TarInfo("../evil")
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    for member in (escape, link):
        with pytest.raises(InvalidArgument, match="refused"):
            context.unpack(archive(member), tmp_path / "out")
    assert not (tmp_path / "evil").exists()


def test_unpacked_file_is_never_setuid(tmp_path: Path) -> None:
    member = tarfile.TarInfo("tool")
    member.mode = 0o6755
    context.unpack(archive(member), tmp_path)
    assert (tmp_path / "tool").stat().st_mode & 0o7777 == 0o755


def test_damaged_archive_is_an_error_and_an_empty_one_no_files(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="cannot be read"):
        context.unpack(b"not a tgz", tmp_path / "a")
    context.unpack(b"", tmp_path / "b")
    assert list((tmp_path / "b").iterdir()) == []


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../up"])
def test_older_pythons_without_filters_refuse_members_that_leave(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    with pytest.raises(InvalidArgument, match="is refused"):
        context.unpack(archive(tarfile.TarInfo(name)), tmp_path / "out")
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    with pytest.raises(InvalidArgument, match="neither a file nor a directory"):
        context.unpack(archive(link), tmp_path / "out")


@pytest.mark.filterwarnings("ignore:Python 3.14 will:DeprecationWarning")  # told to the Pythons that have filters
def test_older_pythons_without_filters_unpack_without_setuid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    program = tarfile.TarInfo("bin/run")
    program.mode, program.uid = 0o6777, 12345
    context.unpack(archive(program), tmp_path / "out")
    made = (tmp_path / "out" / "bin" / "run").stat()
    assert (made.st_mode & 0o7777, made.st_uid) == (0o755, os.getuid())


def test_a_copy_has_what_a_submit_would_send_less_the_directory_left_out(tmp_path: Path) -> None:
    root = write(tmp_path / "src", a_dot_txt="alpha", sub__b_dot_py="beta", store__c="checkpoint", d_dot_bin="data")
    (root / ".detignore").write_text("*.bin\n")
    (root / "sub" / "b.py").chmod(0o755)
    (root / "gone").symlink_to(tmp_path / "nowhere")
    context.copy_directory(root, root / "store" / "1" / "code", without=root / "store")
    copied = root / "store" / "1" / "code"
    assert sorted(path.relative_to(copied).as_posix() for path in copied.rglob("*")) == ["a.txt", "sub", "sub/b.py"]
    assert (copied / "sub" / "b.py").stat().st_mode & 0o777 == 0o755


def test_a_copy_beyond_the_limit_copies_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "MAX_CONTEXT_BYTES", 5)
    root = write(tmp_path / "src", a="123", b="456")
    with pytest.raises(TooLarge, match="detignore"):
        context.copy_directory(root, tmp_path / "copy", without=tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_directory_that_goes_while_it_is_read_is_left_out(tmp_path: Path) -> None:
    root = write(tmp_path / "model", a_dot_py="a", build__part_dot_js="b")
    found = context._walk(root, context._ignoring(root), context.PurePosixPath(), [])
    assert next(found)[1] == "a.py"
    assert next(found)[1] == "build"
    shutil.rmtree(root / "build")
    assert list(found) == []
