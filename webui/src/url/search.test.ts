// Editing the query string, and where a redirect may lead.
import { expect, test } from "vitest";
import { safeRedirect, withParam } from "./search";

test("a parameter is set, changed and dropped without touching the others", () => {
  expect(withParam("?a=1&b=2", "b", "3")).toBe("?a=1&b=3");
  expect(withParam("?a=1", "cols", "x,y")).toBe("?a=1&cols=x,y");
  expect(withParam("?a=1", "a", undefined)).toBe("");
});

test("a redirect stays on this page", () => {
  expect(safeRedirect("/experiments/4?x=1#L2", "/det")).toBe("/experiments/4?x=1#L2");
  expect(safeRedirect("/det/trials/3", "/det")).toBe("/trials/3");
});

test("a redirect to elsewhere or back to the sign-in goes home", () => {
  for (const raw of [
    null,
    "",
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "javascript:1",
    "/login?x",
  ]) {
    expect(safeRedirect(raw, "/det")).toBe("/");
  }
});
