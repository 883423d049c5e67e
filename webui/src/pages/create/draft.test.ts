// Text, object and checks stay in step. The master is played by something that reads and writes JSON.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Check, DraftStore } from "./draft";
import type { Plain } from "./values";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Reads `key: json` lines; `#` begins a comment. */
function parse(text: string): Plain | null {
  const lines = text
    .split("\n")
    .map((line) => line.replace(/\s*#.*$/, ""))
    .filter((line) => line !== "");
  const pairs = lines.map((line) => /^(\w+): (.+)$/.exec(line));
  if (pairs.some((pair) => pair === null)) return null;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1], JSON.parse(pair?.[2] ?? "null")]));
}

function master(): { check: Check; asked: (string | Plain)[] } {
  const asked: (string | Plain)[] = [];
  const check: Check = async (config) => {
    asked.push(config);
    const text =
      typeof config === "string"
        ? config
        : Object.entries(config)
            .map(([k, v]) => `${k}: ${JSON.stringify(v)}\n`)
            .join("");
    const submitted = parse(text);
    return { text, submitted, problems: submitted ? [] : [{ path: "", message: "no YAML", line: 1 }] };
  };
  return { check, asked };
}

test("typing is checked after a pause, and only the last text is", async () => {
  const { check, asked } = master();
  const draft = new DraftStore(check);
  draft.setText("a: 1");
  draft.setText("a: 12");
  expect(draft.snapshot()).toMatchObject({ text: "a: 12", isChecking: true });
  await vi.runAllTimersAsync();
  expect(asked).toEqual(["a: 12"]);
  expect(draft.snapshot()).toMatchObject({ object: { a: 12 }, isChecking: false });
});

test("a choice in the form changes the line and keeps the comment", async () => {
  const draft = new DraftStore(master().check);
  await draft.begin("a: 1 # one\n", () => []);
  draft.edit([{ path: ["a"], value: 2 }]);
  expect(draft.snapshot()).toMatchObject({ text: "a: 2 # one\n", object: { a: 2 } });
  await vi.runAllTimersAsync();
  expect(draft.snapshot()).toMatchObject({ text: "a: 2 # one\n", object: { a: 2 } });
});

test("a line edit that means something else is replaced by the master's text", async () => {
  const { check } = master();
  const misread: Check = async (config, signal) => {
    const answer = await check(config, signal);
    return typeof config === "string" && config.includes("2") ? { ...answer, submitted: { a: 99 } } : answer;
  };
  const draft = new DraftStore(misread);
  await draft.begin("a: 1 # one\n", () => []);
  draft.edit([{ path: ["a"], value: 2 }]);
  await vi.runAllTimersAsync();
  expect(draft.snapshot()).toMatchObject({ text: "a: 2\n", object: { a: 2 } });
});

test("a text that cannot be read leaves the form without an object, and mending it gives it back", async () => {
  const draft = new DraftStore(master().check);
  draft.setText("a");
  await vi.runAllTimersAsync();
  expect(draft.snapshot().object).toBeNull();
  expect(draft.snapshot().answer?.problems).toHaveLength(1);
  draft.setText("a: 1");
  await vi.runAllTimersAsync();
  expect(draft.snapshot().object).toEqual({ a: 1 });
});

test("an answer that comes after newer typing is dropped", async () => {
  const { check } = master();
  const waiting: (() => void)[] = [];
  const slow: Check = async (config, signal) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return await check(config, signal);
  };
  const draft = new DraftStore(slow);
  draft.setText("a: 1");
  await vi.advanceTimersByTimeAsync(1000);
  draft.setText("a: 2");
  waiting[0]?.();
  await vi.advanceTimersByTimeAsync(1);
  expect(draft.snapshot()).toMatchObject({ text: "a: 2", object: null, isChecking: true });
  await vi.advanceTimersByTimeAsync(1000);
  waiting[1]?.();
  await vi.runAllTimersAsync();
  expect(draft.snapshot()).toMatchObject({ object: { a: 2 }, isChecking: false });
});

test("a failed check is told and does not lose the text", async () => {
  const draft = new DraftStore(() => Promise.reject(new Error("away")));
  draft.setText("a: 1");
  await vi.runAllTimersAsync();
  expect(draft.snapshot()).toMatchObject({ text: "a: 1", isChecking: false, error: new Error("away") });
});

test("JSON is written as YAML before anything else, and the parent's text is told", async () => {
  const { check } = master();
  const json: Check = (config, signal) =>
    check(typeof config === "string" && config.startsWith("{") ? (JSON.parse(config) as Plain) : config, signal);
  const draft = new DraftStore(json);
  const before = await draft.begin('{"a": 1, "b": 2}', () => [{ path: ["b"], value: 3 }]);
  expect(before).toBe("a: 1\nb: 2\n");
  expect(draft.snapshot()).toMatchObject({ text: "a: 1\nb: 3\n", object: { a: 1, b: 3 } });
});

test("a choice made while typed text is still unread loses neither", async () => {
  const draft = new DraftStore(master().check);
  await draft.begin("a: 1\n", () => []);
  draft.setText("a: 1\nb: 5\n");
  draft.edit([{ path: ["a"], value: 2 }]);
  expect(draft.snapshot().object).toEqual({ a: 2 });
  await vi.runAllTimersAsync();
  expect(draft.snapshot()).toMatchObject({ text: "a: 2\nb: 5\n", object: { a: 2, b: 5 }, isChecking: false });
});
