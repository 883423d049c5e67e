import { expect, test } from "vitest";
import { ApiError } from "../api/client";
import { bothTexts, currentOf, placeOf } from "./conflict";
import { loaded, stored } from "./draft";

test("a draft is found again, and is gone when it is put away", () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  stored(storage, "a", { text: "new", base: "old" });
  expect(loaded(storage, "a")).toEqual({ text: "new", base: "old" });
  expect(loaded(storage, "b")).toBeNull();
  stored(storage, "a", null);
  expect(loaded(storage, "a")).toBeNull();
  kept.set("c", "{nonsense");
  expect(loaded(storage, "c")).toBeNull();
});

test("a refused save tells the text as it is", () => {
  expect(currentOf(new ApiError("changed", 409, "conflict", { current: "theirs" }))).toBe("theirs");
  expect(currentOf(new ApiError("no", 400, "invalid", {}))).toBeUndefined();
});

test("both texts are put together, what they share once", () => {
  expect(bothTexts("# a\nsame\ntheirs\nend", "# a\nsame\nmine\nend")).toBe("# a\nsame\ntheirs\nmine\nend");
  expect(bothTexts("theirs", "mine")).toBe("theirs\nmine");
});

test("a page is found where it has moved to", () => {
  const page = { name: "b", contents: "" };
  expect(placeOf([{ name: "a", contents: "" }, page], 1, page)).toBe(1);
  expect(placeOf([page], 1, page)).toBe(0);
  expect(placeOf([], 1, page)).toBe(-1);
});
