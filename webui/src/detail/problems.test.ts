import { expect, test } from "vitest";
import { markersOf } from "./problems";

test("problems of one line are one marker, problems without line none", () => {
  const problems = [
    { path: "a", message: "bad", line: 3 },
    { path: "b", message: "worse", line: 3 },
    { path: "", message: "all" },
  ];
  expect(markersOf(problems)).toEqual([{ line: 3, message: "bad\nworse", kind: "error" }]);
});
