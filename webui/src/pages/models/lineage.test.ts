import { expect, test } from "vitest";
import { dataBoxes, type LineageFacts, type LineageUse, lineageOf } from "./lineage";

const USE: LineageUse = {
  trialId: 9,
  experimentId: 4,
  experimentName: "evaluate",
  trialSourceInfoType: "TRIAL_SOURCE_INFO_TYPE_INFERENCE",
  modelId: 7,
  modelVersion: 2,
};
const FACTS: LineageFacts = {
  current: { model: { id: 7, name: "counter" }, version: 2, name: "good", aliases: ["production"] },
  checkpoint: { uuid: "0123456789ab", batches: 2000 },
  experimentId: 3,
  trialId: 5,
  experimentName: "count",
  config: { data: { path: "/data/digits" } },
  uses: [USE],
};

test("the stages lead from the data to the trials that use the version", () => {
  const stages = lineageOf(FACTS);
  expect(stages.map((one) => [one.label, one.boxes.map((box) => box.title)])).toEqual([
    ["Data", ["Data of the configuration"]],
    ["Trained by", ["Experiment 3"]],
    ["Checkpoint", ["01234567"]],
    ["Registered as", ["counter version 2"]],
    ["Used by", ["Trial 9"]],
  ]);
  expect(stages[2]?.boxes[0]).toMatchObject({
    lines: ["of trial 5", "after 2,000 batches"],
    href: "/experiments/3/trials/5/checkpoints?checkpoint=0123456789ab",
  });
  expect(stages[3]?.boxes[0]).toMatchObject({ isCurrent: true, lines: ["good", "production"] });
  expect(stages[4]?.boxes[0]).toMatchObject({ lines: ["inference", "evaluate"], href: "/experiments/4/trials/9" });
});

test("what is not known is left out", () => {
  const stages = lineageOf({ ...FACTS, config: {}, experimentId: null, trialId: null, uses: [] });
  expect(stages.map((one) => one.kind)).toEqual(["checkpoint", "version"]);
  expect(stages[0]?.boxes[0]?.href).toBeUndefined();
});

test("a trial that used the checkpoint otherwise says how", () => {
  const uses = [
    { ...USE, modelVersion: 1 },
    { ...USE, modelId: null, modelVersion: null, trialSourceInfoType: "TRIAL_SOURCE_INFO_TYPE_FINE_TUNING" },
  ];
  const lines = lineageOf({ ...FACTS, uses })
    .at(-1)
    ?.boxes.map((box) => box.lines[0]);
  expect(lines).toEqual(["inference, as version 1 of model 7", "fine-tuning, its checkpoint"]);
});

test("many uses are counted in the picture and kept for the list", () => {
  const uses = Array.from({ length: 9 }, (_, at) => ({ ...USE, trialId: at }));
  const last = lineageOf({ ...FACTS, uses }).at(-1);
  expect([last?.boxes.length, last?.hidden.length]).toEqual([6, 3]);
});

test("data of both kinds is shown, long values without their middle", () => {
  const config = {
    integrations: { pachyderm: { dataset: { repo: "digits", branch: "master" } } },
    data: { a: 1, b: "x".repeat(100), none: null },
  };
  const [data] = dataBoxes({ config, experimentId: 3 });
  expect(data?.lines[0]).toBe("a: 1");
  expect(data?.lines[1]).toHaveLength(60);
  expect(data?.lines[2]).toBe('pachyderm: {"repo":"digits","branch":"master"}');
  const many = { data: { a: 1, b: [2], c: true, d: 4 } };
  expect(dataBoxes({ config: many, experimentId: 3 })[0]?.lines.at(-1)).toBe("and 1 more");
  expect(dataBoxes({ config: { data: {} }, experimentId: null })).toEqual([]);
});
