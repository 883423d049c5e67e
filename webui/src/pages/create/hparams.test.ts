// Hyperparameters between configuration and form.
import { expect, test } from "vitest";
import { asKind, declaration, hparamsOf, shown, shownList, typed, typedList } from "./hparams";

test("nested groups are written out and every kind is read and written back", () => {
  const declared = {
    lr: { type: "log", base: 10, minval: -4, maxval: -1 },
    optimizer: { name: { type: "categorical", vals: ["sgd", "adam"] }, momentum: 0.9 },
    layers: { type: "int", minval: 1, maxval: 4, count: 2 },
    fixed: { type: "const", val: [1, 2] },
    sizes: [1, { type: "int" }],
  };
  const rows = hparamsOf(declared);
  expect(rows.map((row) => row.path.join("."))).toEqual([
    "lr",
    "optimizer.name",
    "optimizer.momentum",
    "layers",
    "fixed",
    "sizes",
  ]);
  expect(rows.map(declaration)).toEqual([
    declared.lr,
    declared.optimizer.name,
    0.9,
    declared.layers,
    [1, 2],
    declared.sizes,
  ]);
});

test("a fixed value becomes a range around itself", () => {
  const lr = { path: ["lr"], kind: "const" as const, value: 0.01 };
  expect(declaration(asKind(lr, "double"))).toEqual({ type: "double", minval: 0.001, maxval: 0.1 });
  expect(declaration(asKind(lr, "log"))).toEqual({ type: "log", base: 10, minval: -3, maxval: -1 });
  expect(declaration(asKind({ ...lr, value: 64 }, "int"))).toEqual({ type: "int", minval: 6, maxval: 640 });
  expect(declaration(asKind({ ...lr, value: "adam" }, "categorical"))).toEqual({ type: "categorical", vals: ["adam"] });
});

test("a range becomes a fixed value within it, and every range has two ends", () => {
  const range = { path: ["x"], kind: "double" as const, minval: 2, maxval: 4 };
  expect(asKind(range, "const").value).toBe(3);
  for (const value of [0, -5, "text", null]) {
    for (const kind of ["int", "double", "log"] as const) {
      const made = asKind({ path: ["x"], kind: "const", value }, kind);
      expect(made.minval).toBeLessThan(made.maxval ?? Number.NaN);
    }
  }
});

test("typed text is a number, a truth or a list where it looks like one", () => {
  expect(typed("1e-3")).toBe(0.001);
  expect(typed(".5")).toBe(0.5);
  expect(typed("true")).toBe(true);
  expect(typed("[1, 2]")).toEqual([1, 2]);
  expect(typed("adam")).toBe("adam");
  for (const value of ["12", 12, "adam", "null", null, [1], { a: 1 }]) expect(typed(shown(value))).toEqual(value);
});

test("a list is typed with commas and reads back", () => {
  expect(typedList("16, 32,64")).toEqual([16, 32, 64]);
  const values = ["a,b", "c", 3, [1, 2], "12", "true", "[x"];
  expect(typedList(shownList(values))).toEqual(values);
});
