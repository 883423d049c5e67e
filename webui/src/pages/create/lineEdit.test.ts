// Values are changed where they stand; comments, order and everything else stay.
import { expect, test } from "vitest";
import { editText, setInText } from "./lineEdit";

const TEXT = `# my experiment
name: first  # what it is called
entrypoint: python3 train.py
hyperparameters:
  lr: 0.1   # the rate

  layers:
    type: int
    minval: 1
    maxval: 4
searcher:
  name: single
  metric: "val_loss"

resources:
  slots_per_trial: 1
labels:
- a
- b
`;

test("a plain value is replaced and its comment stays", () => {
  const changed = setInText(TEXT, ["hyperparameters", "lr"], 0.01);
  expect(changed).toBe(TEXT.replace("lr: 0.1   # the rate", "lr: 0.01   # the rate"));
  expect(setInText(TEXT, ["name"], "second")).toContain("name: second  # what it is called\n");
  expect(setInText(TEXT, ["searcher", "metric"], "loss")).toContain("  metric: loss\n");
});

test("text that YAML would read as something else is quoted", () => {
  expect(setInText(TEXT, ["name"], "12")).toContain('name: "12"');
  expect(setInText(TEXT, ["name"], "a: b #c")).toContain('name: "a: b #c"');
  expect(setInText(TEXT, ["name"], "true")).toContain('name: "true"');
});

test("a missing key is put at the end of its block", () => {
  expect(setInText(TEXT, ["searcher", "max_length"], 5)).toContain(
    '  metric: "val_loss"\n  max_length: 5\n\nresources',
  );
  expect(setInText(TEXT, ["max_restarts"], 0)?.endsWith("- b\nmax_restarts: 0\n")).toBe(true);
  expect(setInText("name: x\n", ["resources", "slots_per_trial"], 2)).toBe(
    "name: x\nresources:\n  slots_per_trial: 2\n",
  );
});

test("a block is replaced by a plain value and a plain value by a block", () => {
  expect(setInText(TEXT, ["hyperparameters", "layers"], 3)).toContain("\n\n  layers: 3\nsearcher:");
  const range = { type: "double", minval: 0, maxval: 1 };
  expect(setInText(TEXT, ["hyperparameters", "lr"], range)).toContain(
    "  lr:\n    type: double\n    minval: 0\n    maxval: 1\n",
  );
});

test("a key is taken out with all its lines", () => {
  expect(setInText(TEXT, ["hyperparameters", "layers"], undefined)).toContain("# the rate\n\nsearcher:");
  expect(setInText(TEXT, ["labels"], undefined)?.endsWith("slots_per_trial: 1\n")).toBe(true);
  expect(setInText(TEXT, ["nothing"], undefined)).toBe(TEXT);
});

test("several edits follow one another", () => {
  const changed = editText(TEXT, [
    { path: ["searcher", "name"], value: "random" },
    { path: ["searcher", "max_trials"], value: 8 },
  ]);
  expect(changed).toContain('  name: random\n  metric: "val_loss"\n  max_trials: 8\n');
});

test("what it does not understand is left to the master", () => {
  expect(setInText("searcher: {name: single}\n", ["searcher", "name"], "random")).toBeNull();
  expect(setInText("---\na: 1\n", ["a"], 2)).toBeNull();
  expect(setInText("a:\n\tb: 1\n", ["a", "b"], 2)).toBeNull();
});
