// The replacement touches what differs and nothing else.
import { expect, test } from "vitest";
import { replacement } from "./textChange";

const applied = (before: string, after: string): string => {
  const change = replacement(before, after);
  return change === null ? before : before.slice(0, change.from) + change.insert + before.slice(change.to);
};

test("equal texts need no change", () => {
  expect(replacement("a: 1", "a: 1")).toBeNull();
});

test("only the differing middle is replaced", () => {
  expect(replacement("lr: 0.1 # rate", "lr: 0.01 # rate")).toEqual({ from: 6, to: 6, insert: "0" });
  expect(replacement("a: 1\nb: 2\n", "a: 1\nb: 30\n")).toEqual({ from: 8, to: 9, insert: "30" });
});

test("repeated letters at both ends are not counted twice", () => {
  for (const [before, after] of [
    ["aaa", "aa"],
    ["aa", "aaaa"],
    ["abab", "ab"],
    ["", "x"],
    ["x", ""],
  ] as const) {
    expect(applied(before, after)).toBe(after);
  }
});
