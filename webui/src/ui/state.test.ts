// States of the API as shown.
import { expect, test } from "vitest";
import { isLive, stateOf } from "./state";

test("states are known with every prefix the API has", () => {
  expect(stateOf("STATE_ACTIVE")).toEqual({ kind: "running", word: "Active", glyph: "▶" });
  expect(stateOf("GENERIC_TASK_STATE_PAUSED").kind).toBe("paused");
  expect(stateOf("COMPLETED").word).toBe("Completed");
  expect(stateOf("STATE_STOPPING_ERROR").kind).toBe("error");
});

test("an unknown state keeps its own word", () => {
  expect(stateOf("STATE_SOMETHING_NEW").word).toBe("Something new");
  expect(stateOf(null).word).toBe("Unknown");
});

test("only ended states are not live", () => {
  expect(isLive("STATE_STOPPING_CANCELED")).toBe(true);
  expect(isLive("STATE_CANCELED")).toBe(false);
});
