import { describe, expect, it } from "vitest";
import { slotReadings } from "./slots";

describe("what the slots do", () => {
  it("is read from the latest report of every agent", () => {
    const last = { "GPU-1": { gpu_util: 10, gpu_free_memory: 100 }, "GPU-2": { gpu_util: 5 } };
    expect(
      slotReadings({ gpu: { node0: { type: "object", last } }, cpu: { node0: { last: { cpu_util_simple: 3 } } } }),
    ).toEqual([
      { agent: "node0", part: "GPU-1", utilisation: 10, freeBytes: 100 },
      { agent: "node0", part: "GPU-2", utilisation: 5, freeBytes: null },
    ]);
  });

  it("is nothing without GPUs", () => {
    expect(slotReadings({ cpu: {} })).toEqual([]);
    expect(slotReadings(null)).toEqual([]);
    expect(slotReadings({ gpu: { node0: { last: null } } })).toEqual([]);
  });
});
