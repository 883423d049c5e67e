// The guess of the time left.
import { expect, test } from "vitest";
import { remaining } from "./eta";

test("a quarter done in a minute leaves three", () => {
  expect(remaining(0.25, 60)).toBe(180);
});

test("too little known is no guess", () => {
  expect(remaining(0.001, 600)).toBeNull();
  expect(remaining(0.5, 1)).toBeNull();
  expect(remaining(0.5, null)).toBeNull();
  expect(remaining(1, 600)).toBeNull();
});
