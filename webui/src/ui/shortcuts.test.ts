// Keys, chords and sequences.
import { afterEach, expect, test } from "vitest";
import { addShortcut, press } from "./shortcuts";

const plain = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
const removals: (() => void)[] = [];
let at = 0;

function add(keys: string): { count: number } {
  const seen = { count: 0 };
  removals.push(addShortcut({ keys, label: keys, action: () => (seen.count += 1) }));
  return seen;
}

function type(key: string, more: Partial<typeof plain> = {}, wait = 100): void {
  at += wait;
  press({ key, ...plain, ...more }, at)?.action();
}

afterEach(() => {
  for (const remove of removals.splice(0)) remove();
  at += 10_000;
});

test("a sequence counts only when its keys follow soon", () => {
  const home = add("g h");
  type("g");
  type("h");
  type("g");
  type("h", {}, 5000);
  expect(home.count).toBe(1);
});

test("Ctrl and Command both mean mod", () => {
  const palette = add("mod+k");
  type("k", { ctrlKey: true });
  type("K", { metaKey: true });
  type("k");
  expect(palette.count).toBe(2);
});

test("Ctrl and Space open what upstream opened", () => {
  const palette = add("mod+space");
  type(" ", { ctrlKey: true });
  expect(palette.count).toBe(1);
});

test("the shortcut of the page wins over the one of the shell", () => {
  const shell = add("/");
  const page = add("/");
  type("/");
  expect([shell.count, page.count]).toEqual([0, 1]);
});
