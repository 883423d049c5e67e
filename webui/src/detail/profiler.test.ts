import { describe, expect, it } from "vitest";
import { byMetric, extended, NO_SAMPLES, nameOf } from "./profiler";

const label = (name: string, agentId: string, gpuUuid = "") => ({ name, agentId, gpuUuid, trialId: 1 });

describe("series of the profiler", () => {
  it("are drawn metric by metric", () => {
    const found = byMetric([label("gpu_util", "b", "G1"), label("cpu", "a"), label("gpu_util", "b", "G2")]);
    expect(found.map(([name, series]) => [name, series.map(nameOf)])).toEqual([
      ["cpu", ["a"]],
      ["gpu_util", ["b G1", "b G2"]],
    ]);
  });

  it("are joined from their batches", () => {
    const batches = [
      { batches: [0, 1], timestamps: ["1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z"], values: [5, 6] },
      { batches: [4], timestamps: ["1970-01-01T00:00:03.5Z"], values: [7] },
    ];
    expect(extended(NO_SAMPLES, batches)).toEqual({ x: [1, 2, 3.5], y: [5, 6, 7], last: 4 });
  });

  it("grow by what is new, and are left as they are without", () => {
    const line = { x: [1, 2], y: [5, 6], last: 1 };
    const more = extended(line, [{ batches: [2], timestamps: ["1970-01-01T00:00:03Z"], values: [7] }]);
    expect(more).toEqual({ x: [1, 2, 3], y: [5, 6, 7], last: 2 });
    expect(line.x).toEqual([1, 2]);
    expect(extended(line, [])).toBe(line);
  });
});
