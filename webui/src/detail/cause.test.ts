import { describe, expect, it } from "vitest";
import { causeOf, experimentError, signalOf } from "./cause";

const ended = (statusCode: number, exitReason = "the entrypoint failed") => [
  { endTime: "2026-01-01T00:00:00Z", statusCode: 0, exitReason: "paused" },
  { endTime: "2026-01-01T01:00:00Z", statusCode, exitReason },
];

describe("why a trial failed", () => {
  it("tells the exit code of the last run and what was recorded", () => {
    expect(causeOf(ended(3), null, {})).toMatchObject({
      title: "Failed with exit code 3",
      exitCode: 3,
      detail: "the entrypoint failed",
    });
  });

  it("names the signal", () => {
    expect(causeOf(ended(139), null, {}).title).toBe("Ended by SIGSEGV (exit code 139)");
    expect(causeOf(ended(137), null, {}).hint).toContain("memory");
    expect(signalOf(1)).toBeNull();
    expect(signalOf(-9)).toBe("SIGKILL");
  });

  it("prefers the label that a log policy gave, and looks for that policy's line", () => {
    const config = { log_policies: [{ name: "CUDA OOM", pattern: ".*CUDA out of memory.*" }] };
    const cause = causeOf(ended(1), "CUDA OOM", config);
    expect(cause).toMatchObject({ title: "Failed: CUDA OOM", pattern: ".*CUDA out of memory.*" });
    expect(cause.hint).toContain("batch size");
  });

  it("looks for an exception where there is no policy", () => {
    const pattern = new RegExp(causeOf([], null, {}).pattern);
    expect(pattern.test("ValueError: bad")).toBe(true);
    expect(pattern.test("torch.cuda.OutOfMemoryError: x")).toBe(true);
    expect(pattern.test("no error here")).toBe(false);
  });
});

describe("why an experiment failed", () => {
  const error = "the sampler failed: the matrix is singular";

  it("is what the master recorded, once it ends and after", () => {
    expect(experimentError({ state: "STATE_ERROR", error })).toBe(error);
    expect(experimentError({ state: "STATE_STOPPING_ERROR", error })).toBe(error);
  });

  it("is left to its trials where it is only that all of them failed", () => {
    expect(experimentError({ state: "STATE_ERROR", error: "every trial failed" })).toBeNull();
    expect(experimentError({ state: "STATE_ERROR", error: "every trial failed: ValueError: x" })).toBeNull();
    expect(experimentError({ state: "STATE_ERROR", error: null })).toBeNull();
  });

  it("is over with when the experiment runs again", () => {
    expect(experimentError({ state: "STATE_RUNNING", error })).toBeNull();
  });
});
