// The last look of a table: read from the settings each time, after what is being stored.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isAt, lastLook, saveLook, withoutSelection } from "./lastLook";

let stored: Record<string, string>;
let asked: string[];

beforeEach(() => {
  stored = {};
  asked = [];
  vi.stubGlobal("fetch", async (_url: string, init: RequestInit) => {
    asked.push(init.method ?? "");
    if (init.method === "POST") {
      await new Promise((done) => setTimeout(done));
      const { settings } = JSON.parse(String(init.body));
      for (const one of settings) stored[`${one.storagePath} ${one.key}`] = one.value;
      return new Response("{}");
    }
    const settings = Object.entries(stored).map(([name, value]) => {
      const [storagePath, key] = name.split(" ");
      return { storagePath, key, value };
    });
    return new Response(JSON.stringify({ settings }));
  });
});

afterEach(() => vi.unstubAllGlobals());

test("is what was stored, also when that is still under way", async () => {
  saveLook("1/run", "sort=id");
  saveLook("1/run", "sort=-id");
  saveLook("2/run", "q=x");
  expect(await lastLook("1/run")).toBe("sort=-id");
  expect(asked).toEqual(["POST", "POST", "POST", "GET"]);
});

test("is the one of the settings, whoever has put it there since", async () => {
  saveLook("1/run", "sort=id");
  expect(await lastLook("1/run")).toBe("sort=id");
  stored["project-table 1/run"] = JSON.stringify("sort=-state");
  expect(await lastLook("1/run")).toBe("sort=-state");
});

test("is none where none can be read", async () => {
  expect(await lastLook("1/run")).toBe("");
  for (const broken of ["{", "3", "null"]) {
    stored["project-table 1/run"] = broken;
    expect(await lastLook("1/run")).toBe("");
  }
  vi.stubGlobal("fetch", async () => new Response("{}", { status: 503 }));
  expect(await lastLook("1/run")).toBe("");
});

test("leaves out what was ticked", () => {
  expect(withoutSelection("?q=a&sel=1-3&sort=id")).toBe("q=a&sort=id");
});

test("belongs to the paths of its project", () => {
  expect(["/projects/1", "/projects/1/runs", "/projects/1/searches"].every((path) => isAt(path, "1/run"))).toBe(true);
  expect(["/projects/12/runs", "/dashboard", "/experiments/1"].some((path) => isAt(path, "1/run"))).toBe(false);
});
