// The configuration each mode starts with.
import { expect, test } from "vitest";
import { methodEdits, startEdits, startName } from "./start";
import { withEdits } from "./values";

const PARENT = {
  name: "mnist",
  project: "p",
  workspace: "w",
  hyperparameters: { lr: { type: "log", base: 10, minval: -4, maxval: -1 }, opt: { momentum: 0.9 } },
  searcher: { name: "adaptive_asha", metric: "loss", max_trials: 8, max_length: { batches: 100 }, mode: "standard" },
};
const TRIAL = { id: 1, trialId: 7, hparams: { lr: 0.002, opt: { momentum: 0.9 } } };

test("a fork of an experiment starts with its configuration as it is", () => {
  expect(startEdits("fork", "same", PARENT, { id: 1 })).toEqual([]);
});

test("a new experiment from a trial's checkpoint has one trial with its values", () => {
  const config = withEdits(PARENT, startEdits("continue", "fork", PARENT, TRIAL));
  expect(config["searcher"]).toEqual({
    name: "single",
    metric: "loss",
    max_length: { batches: 100 },
    source_trial_id: 7,
  });
  expect(config["hyperparameters"]).toEqual({ lr: 0.002, opt: { momentum: 0.9 } });
});

test("continuing under its own id leaves out where it lies", () => {
  const config = withEdits(PARENT, startEdits("continue", "same", PARENT, TRIAL));
  expect(Object.keys(config)).toEqual(["name", "hyperparameters", "searcher"]);
});

test("a search of a single trial becomes auto when its length is known, else random", () => {
  const single = { searcher: { name: "single", metric: "loss", max_length: 5 } };
  expect(withEdits(single, startEdits("hpsearch", "same", single, { id: 1 }))).toEqual({
    searcher: { name: "auto", metric: "loss", max_length: 5, max_trials: 16 },
  });
  const open = { searcher: { name: "single", metric: "loss" } };
  expect(withEdits(open, startEdits("hpsearch", "same", open, { id: 1 }))).toEqual({
    searcher: { name: "random", metric: "loss", max_trials: 16 },
  });
  expect(startEdits("hpsearch", "same", PARENT, { id: 1 })).toEqual([]);
});

test("another method loses what it does not know", () => {
  expect(withEdits(PARENT, methodEdits(PARENT, "grid"))["searcher"]).toEqual({
    name: "grid",
    metric: "loss",
    max_length: { batches: 100 },
  });
  expect(methodEdits(PARENT, "adaptive_asha")).toEqual([]);
});

test("names tell parent and child apart, once", () => {
  expect(startName("fork", "same", "mnist")).toBe("mnist (fork)");
  expect(startName("fork", "same", "mnist (fork)")).toBe("mnist (fork)");
  expect(startName("continue", "same", "mnist")).toBe("mnist");
});
