import { describe, expect, it } from "vitest";
import type { Experiment, Trial } from "../../../detail/types";
import { defaultMetric, metricChoices, trialValue } from "./metricChoice";

const experiment = { config: { searcher: { metric: "acc", smaller_is_better: false } } } as unknown as Experiment;
const trial = {
  searcherMetricValue: 0.9,
  summaryMetrics: {
    validation_metrics: { acc: { last: 0.8, min: 0.1, max: 0.9 } },
    avg_metrics: { loss: { last: 1, min: 0.5, max: 3 } },
  },
} as unknown as Trial;

describe("which metric, of which moment", () => {
  it("offers what any trial has reported, the searcher's first", () => {
    const choices = metricChoices([trial]);
    expect(choices).toEqual(["training.loss", "validation.acc"]);
    expect(defaultMetric(experiment, choices)).toBe("validation.acc");
    expect(defaultMetric(experiment, ["training.loss"])).toBe("training.loss");
  });

  it("tells the best and the last value", () => {
    expect(trialValue(trial, "validation.acc", "best", experiment)).toBe(0.9);
    expect(trialValue(trial, "validation.acc", "last", experiment)).toBe(0.8);
    expect(trialValue(trial, "training.loss", "best", experiment)).toBe(3);
    expect(trialValue(trial, "training.none", "last", experiment)).toBeNull();
  });
});
