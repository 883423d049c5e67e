// The rules of .detignore.
import { expect, test } from "vitest";
import { ignoring } from "./ignore";

const kept = (text: string, paths: string[]) => paths.filter((path) => !ignoring(text)(path));

test("what no task needs stays behind without being named", () => {
  const paths = [
    "train.py",
    "a.pyc",
    "pkg/__pycache__/x.py",
    ".git/config",
    "shared_fs/x",
    "pkg/shared_fs",
    ".detignore",
  ];
  expect(kept("", paths)).toEqual(["train.py", "pkg/shared_fs"]);
});

test("a name without slash matches at any depth, with one only from the top", () => {
  expect(kept("data\n", ["data", "pkg/data", "data/x", "datax"])).toEqual(["datax"]);
  expect(kept("/data\n", ["data/x", "pkg/data"])).toEqual(["pkg/data"]);
  expect(kept("pkg/data\n", ["pkg/data/x", "a/pkg/data"])).toEqual(["a/pkg/data"]);
});

test("a slash at the end means folders only", () => {
  expect(kept("logs/\n", ["logs", "logs/a", "x/logs/b"])).toEqual(["logs"]);
});

test("stars, sets and question marks do not cross slashes, two stars do", () => {
  expect(kept("*.csv\n", ["a.csv", "d/b.csv", "c.csvx"])).toEqual(["c.csvx"]);
  expect(kept("d/*.csv\n", ["d/a.csv", "d/e/b.csv"])).toEqual(["d/e/b.csv"]);
  expect(kept("d/**/x\n", ["d/x", "d/a/b/x", "e/d/x"])).toEqual(["e/d/x"]);
  expect(kept("run[0-9]?\n", ["run12", "run1", "runx1"])).toEqual(["run1", "runx1"]);
  expect(kept("a[!b]c\n", ["abc", "axc"])).toEqual(["abc"]);
});

test("a later rule takes back in what an earlier one left out, but not from below an ignored folder", () => {
  expect(kept("*.txt\n!keep.txt\n", ["a.txt", "keep.txt"])).toEqual(["keep.txt"]);
  expect(kept("data/\n!data/keep.txt\n", ["data/keep.txt"])).toEqual([]);
  expect(kept("data/*\n!data/keep.txt\n", ["data/keep.txt", "data/x"])).toEqual(["data/keep.txt"]);
});

test("comments, blank lines and escaped marks", () => {
  expect(kept("# note\n\n\\#a\n\\!b\nc.d\n", ["#a", "!b", "cxd", "note"])).toEqual(["cxd", "note"]);
});
