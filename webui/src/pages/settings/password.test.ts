// The rules of a password.
import { expect, test } from "vitest";
import { passwordProblems } from "./password";

test("a good password has no problems", () => {
  expect(passwordProblems("Gradient1")).toEqual([]);
});

test("each missing thing is named", () => {
  expect(passwordProblems("abc")).toEqual(["at least 8 characters", "an upper-case letter", "a digit"]);
});
