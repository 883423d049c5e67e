import { describe, expect, it } from "vitest";
import { legendName, matcher, metricsOf, sections, summaryValue } from "./metricNames";

const SUMMARY = {
  avg_metrics: {
    loss: { type: "number", last: 0.5, min: 0.4, max: 2 },
    note: { type: "string" },
    batches: { last: 3 },
  },
  validation_metrics: { val_loss: { type: "number", last: 0.7, min: 0.6, max: 1 } },
  gpu: { node0: { type: "object" } },
  inference: { "bleu/en": { type: "number", last: 30 } },
};

describe("metric names", () => {
  it("names a series by its group alone where a chart has one of each", () => {
    const training = { group: "training", name: "loss" };
    const validation = { group: "validation", name: "val_loss" };
    const test = { group: "validation", name: "test_loss" };
    expect(legendName([training, validation])(1, validation)).toBe("validation");
    expect(legendName([training, validation, test])(1, test)).toBe("validation test_loss");
  });

  it("finds the numbers of every group but the profiler's", () => {
    expect(metricsOf(SUMMARY)).toEqual([
      { group: "training", name: "loss" },
      { group: "validation", name: "val_loss" },
      { group: "inference", name: "bleu/en" },
    ]);
    expect(metricsOf(null)).toEqual([]);
  });

  it("draws training and validation of the same thing in one chart, others under their prefix", () => {
    const found = sections(metricsOf(SUMMARY));
    expect(found.map((section) => section.prefix)).toEqual(["", "inference / bleu"]);
    expect(found[0]?.charts).toEqual([
      {
        title: "loss",
        metrics: [
          { group: "training", name: "loss" },
          { group: "validation", name: "val_loss" },
        ],
      },
    ]);
  });

  it("reads values from the summary", () => {
    expect(summaryValue(SUMMARY, { group: "validation", name: "val_loss" }, "min")).toBe(0.6);
    expect(summaryValue(SUMMARY, { group: "inference", name: "bleu/en" }, "last")).toBe(30);
    expect(summaryValue(SUMMARY, { group: "training", name: "none" }, "last")).toBeNull();
  });

  it("takes a filter as a pattern, or as text where it is none", () => {
    expect(["loss", "val_loss", "acc"].filter(matcher("^loss|acc"))).toEqual(["loss", "acc"]);
    expect(["a(b", "c"].filter(matcher("(b"))).toEqual(["a(b"]);
  });
});
