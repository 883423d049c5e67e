// A picked folder becomes a model definition.
import { expect, test } from "vitest";
import { type CodeFile, configsIn, fromInput, read, sift, textOf, toBase64, toWire } from "./files";

const code = (path: string, text: string): CodeFile => ({
  path,
  content: new TextEncoder().encode(text),
  modified: 5000,
});

function picked(path: string, text: string): File {
  const file = new File([text], path.split("/").at(-1) ?? "", { lastModified: 9000 });
  Object.defineProperty(file, "webkitRelativePath", { value: path });
  return file;
}

test("the folder's own ignore file is honoured and its name is not part of the paths", async () => {
  const files = fromInput([
    picked("code/train.py", "print()"),
    picked("code/data/big.bin", "x".repeat(1000)),
    picked("code/.detignore", "data/\n"),
    picked("code/__pycache__/a.pyc", ""),
  ]);
  const sifted = await sift(files);
  expect(sifted.kept.map(({ path }) => path)).toEqual(["train.py"]);
  expect(sifted).toMatchObject({ ignored: 3, bytes: 7 });
  expect(await read(sifted.kept)).toEqual([
    { path: "train.py", content: new TextEncoder().encode("print()"), modified: 9000 },
  ]);
});

test("folders come before what lies in them, scripts with an interpreter may run", () => {
  const sent = toWire([code("pkg/sub/a.py", "x"), code("run.sh", "#!/bin/sh\n")]);
  expect(sent.map(({ path, type, mode }) => [path, type, mode])).toEqual([
    ["pkg", 53, 0o755],
    ["pkg/sub", 53, 0o755],
    ["pkg/sub/a.py", 48, 0o644],
    ["run.sh", 48, 0o755],
  ]);
  expect(sent[3]).toMatchObject({ content: btoa("#!/bin/sh\n"), mtime: "5" });
});

test("any bytes survive base64, also many", () => {
  const content = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
  expect(Uint8Array.from(atob(toBase64(content)), (letter) => letter.charCodeAt(0))).toEqual(content);
});

test("what is no text is told from text", () => {
  expect(textOf(new TextEncoder().encode("é ü"))).toBe("é ü");
  expect(textOf(Uint8Array.of(0xff, 0xfe))).toBeNull();
  expect(textOf(Uint8Array.of(65, 0))).toBeNull();
});

test("configurations at the top are found, the likely one first", () => {
  const files = [
    code("a.yaml", "x: 1"),
    code("const.yaml", "name: x\nsearcher:\n  name: single"),
    code("d/b.yaml", "searcher: {}"),
  ];
  expect(configsIn(files).map(({ path }) => path)).toEqual(["const.yaml", "a.yaml"]);
});
