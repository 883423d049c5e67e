import { expect, test } from "vitest";
import { firstTwo, isSmallerUsual } from "./objectives";

const single = { searcher: { metric: "val_loss", smaller_is_better: true } };
const several = { searcher: { metrics: [{ name: "latency" }, { name: "top5", smaller_is_better: false }] } };

test("a front starts with the searcher's metric and another that trials report", () => {
  expect(firstTwo(single, ["val_accuracy", "val_loss"])).toEqual(["val_loss", "val_accuracy"]);
  expect(firstTwo(several, ["latency", "loss", "top5"])).toEqual(["latency", "top5"]);
});

test("without two reported metrics there is no front", () => {
  expect(firstTwo(single, ["val_loss"])).toEqual([]);
});

test("directions come from the configuration, else from the name", () => {
  expect(isSmallerUsual(several, "top5")).toBe(false);
  expect(isSmallerUsual(single, "val_loss")).toBe(true);
  expect(isSmallerUsual(single, "val_accuracy")).toBe(false);
  expect(isSmallerUsual(single, "latency")).toBe(true);
});
