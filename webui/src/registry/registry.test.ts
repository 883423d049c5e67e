import { expect, test } from "vitest";
import { labelsOf } from "./labels";
import { whyNotRegistered } from "./registrable";

test("labels are read from a line, each once", () => {
  expect(labelsOf(" vision, demo,,vision ")).toEqual(["vision", "demo"]);
  expect(labelsOf("  ")).toEqual([]);
});

test("a checkpoint that cannot be registered says why", () => {
  expect(whyNotRegistered("STATE_COMPLETED")).toBeNull();
  expect(whyNotRegistered("STATE_PARTIALLY_DELETED")).toBe(
    "Its files are not all there (partially deleted); only a complete checkpoint can be registered.",
  );
});
