// The form of a webhook: what is sent of each kind of trigger, copies, and the field that a refusal names.
import { expect, test } from "vitest";
import { ApiError } from "../../api/client";
import { bodyOf, emptyForm, formOf, KINDS, refusalOf, type TriggerForm, triggerForm, triggerOf, wordsAt } from "./form";

const of = (typed: Partial<TriggerForm>) => triggerOf({ ...triggerForm(0), ...typed }).condition;

test("each kind of trigger sends the condition that the master takes", () => {
  expect(of({ kind: "state", state: "ERROR" })).toEqual({ state: "ERROR" });
  expect(of({ kind: "log", regex: " a b " })).toEqual({ regex: " a b " });
  expect(of({ kind: "metric", metric: " loss ", value: "1e-3" })).toEqual({
    metric: "loss",
    group: "validation",
    operator: "<",
    value: 0.001,
  });
  expect(of({ kind: "silence", silence: " 5 " })).toEqual({ no_report_for: "5m" });
  expect(of({ kind: "silence", silence: "90s" })).toEqual({ no_report_for: "90s" });
  expect(of({ kind: "alert" })).toEqual({});
});

test("what is no number goes to the master as it was typed", () => {
  expect(of({ kind: "metric", value: "low" })).toMatchObject({ value: "low" });
  expect(of({ kind: "metric", value: "" })).toMatchObject({ value: "" });
});

test("an alert makes a webhook one that experiments name", () => {
  const form = emptyForm(0);
  expect(bodyOf(form)).toMatchObject({ mode: "WEBHOOK_MODE_WORKSPACE", workspaceId: null });
  const triggers = [{ ...triggerForm(0), kind: "alert" as const }];
  expect(bodyOf({ ...form, workspaceId: 3, triggers })).toMatchObject({
    mode: "WEBHOOK_MODE_SPECIFIC",
    workspaceId: 3,
  });
});

test("a copy of a webhook sends the same again", () => {
  const filled: Record<string, Partial<TriggerForm>> = {
    log: { regex: "x" },
    metric: { value: "5" },
    silence: { silence: "2h" },
  };
  const triggers = KINDS.map(({ id }, key) => ({ ...triggerForm(key), kind: id, ...filled[id] }));
  const body = bodyOf({ ...emptyForm(2), name: "n", url: "http://h/", isSlack: true, isSpecific: true, triggers });
  expect(bodyOf(formOf(body))).toEqual(body);
});

test("a refusal belongs to the field that it names", () => {
  const refusal = refusalOf(new ApiError("no pattern", 400, "invalid_argument", { field: "triggers[1].regex" }));
  expect(wordsAt(refusal, "triggers[1].regex")).toBe("no pattern");
  expect(wordsAt(refusal, "triggers[0].regex")).toBeUndefined();
  expect(refusalOf(new Error("no network"))).toEqual({ field: "", words: "no network" });
});
