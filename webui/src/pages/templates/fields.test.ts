import { expect, test } from "vitest";
import { commandsFor, sectionsOf } from "./fields";

test("the sections of a template are named, and many are counted", () => {
  expect(sectionsOf({})).toBe("nothing");
  expect(sectionsOf({ environment: {}, resources: { priority: 1 } })).toBe("environment, resources");
  expect(sectionsOf({ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 })).toBe("a, b, c, d, e, f and 2 more");
});

test("a name with blanks is one word of the shell", () => {
  expect(commandsFor("gpu")[0]).toBe("det experiment create config.yaml . --template gpu");
  expect(commandsFor("it's mine")[1]).toBe("det notebook start --template 'it'\\''s mine'");
});
