// Operations, edits, comparison and overrides of plain nested data.
import { expect, test } from "vitest";
import { isSame, overrideOf, refreshEdits, valueAt, withEdits, withValue } from "./values";

test("a value is set at a path whose middle is missing", () => {
  expect(withValue({ name: "x" }, ["resources", "slots_per_trial"], 2)).toEqual({
    name: "x",
    resources: { slots_per_trial: 2 },
  });
  expect(valueAt({ a: { b: [1] } }, ["a", "b"])).toEqual([1]);
  expect(valueAt({ a: 1 }, ["a", "b"])).toBeUndefined();
});

test("undefined takes a key out and touches nothing that is missing", () => {
  expect(withEdits({ a: { b: 1, c: 2 } }, [{ path: ["a", "b"], value: undefined }])).toEqual({ a: { c: 2 } });
  expect(withValue({ a: 1 }, ["x", "y"], undefined)).toEqual({ a: 1 });
});

test("the order of keys is no difference, the order of items is", () => {
  expect(isSame({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toBe(true);
  expect(isSame([1, 2], [2, 1])).toBe(false);
  expect(isSame({ a: undefined }, {})).toBe(false);
});

test("an override holds what changed, hyperparameters as a whole", () => {
  const before = {
    name: "x",
    searcher: { name: "single", max_length: 1 },
    hyperparameters: { lr: { type: "log", minval: -3 } },
  };
  const after = {
    name: "x",
    searcher: { name: "single", max_length: 9 },
    hyperparameters: { lr: { type: "const", val: 1 } },
  };
  expect(overrideOf(before, after)).toEqual({
    override: { searcher: { max_length: 9 }, hyperparameters: { lr: { type: "const", val: 1 } } },
    gone: [],
  });
});

test("an override cannot take keys out and says which are gone", () => {
  expect(overrideOf({ a: 1, b: { c: 1, d: 2 } }, { b: { d: 2 } })).toEqual({ override: {}, gone: ["a", "b.c"] });
});

test("a continued experiment starts from the values it ended with", () => {
  const submitted = { searcher: { max_length: 1, metric: "x" }, labels: ["a"], data: { n: 1 } };
  const effective = {
    searcher: { max_length: 9, metric: "x", smaller_is_better: true },
    labels: ["b"],
    data: { n: "1" },
  };
  expect(refreshEdits(submitted, effective)).toEqual([{ path: ["searcher", "max_length"], value: 9 }]);
});
