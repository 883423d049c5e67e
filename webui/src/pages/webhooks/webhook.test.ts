// A webhook in words: every kind of trigger, other people's words apart, a configuration that names it.
import { expect, test } from "vitest";
import {
  answerOf,
  choiceSnippet,
  type Delivery,
  matches,
  nextTry,
  readable,
  type Trigger,
  triggerParts,
} from "./webhook";

const words = (trigger: Trigger) =>
  triggerParts(trigger)
    .map((part) => (typeof part === "string" ? part : `[${part.own}]`))
    .join("");

test("every kind of trigger is told in words, with what somebody typed apart", () => {
  const metric = { metric: "loss", group: "validation", operator: "<", value: 0.1 };
  expect(words({ triggerType: "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", condition: { state: "ERROR" } })).toBe(
    "An experiment becomes [ERROR]",
  );
  expect(words({ triggerType: "TRIGGER_TYPE_TASK_LOG", condition: { regex: "<b>" } })).toBe(
    "A line of a log matches [<b>]",
  );
  expect(words({ triggerType: "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED", condition: metric })).toBe(
    "Metric [loss] of group [validation] < 0.1",
  );
  expect(words({ triggerType: "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED", condition: { no_report_for: "30m" } })).toBe(
    "A running trial reports no metrics for [30m]",
  );
  expect(words({ triggerType: "TRIGGER_TYPE_CUSTOM", condition: null })).toBe("A script calls [core_context.alert()]");
  expect(words({ triggerType: "TRIGGER_TYPE_UNSPECIFIED", condition: { a: 1 } })).toBe('[{"a":1}]');
});

test("a configuration names a webhook by its name, and one without a name by its number", () => {
  expect(choiceSnippet({ url: "", id: 4, name: "" })).toBe("integrations:\n  webhooks:\n    webhook_id:\n      - 4");
  expect(choiceSnippet({ url: "", id: 4, name: 'no: "5"\u0085\u202e' })).toBe(
    'integrations:\n  webhooks:\n    webhook_name:\n      - "no: \\"5\\"\\u0085\\u202e"',
  );
});

test("webhooks are found by name, number, address and workspace", () => {
  const webhook = { url: "https://example.com/Hook", id: 7, name: "", workspaceId: 3 };
  expect([matches(webhook, " hook", 0), matches(webhook, "webhook 7", 3), matches(webhook, "", 2)]).toEqual([
    true,
    true,
    false,
  ]);
});

test("a delivery says what was answered and when it is tried again", () => {
  const delivery = { state: "DELIVERY_STATE_PENDING", nextAttemptAt: "2026-01-01T00:01:00Z" } as Delivery;
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(nextTry(delivery, now)).toBe("in 1 min.");
  expect(nextTry(delivery, now + 56_000)).toBe("soon");
  expect(nextTry({ ...delivery, state: "DELIVERY_STATE_FAILED" }, now)).toBe("");
  expect(answerOf({ ...delivery, statusCode: 503, error: "the receiver answers 503" })).toBe("503");
  expect([answerOf({ ...delivery, error: "nobody" }), answerOf(delivery)]).toEqual(["none", ""]);
});

test("what was sent is shown pretty where it is JSON, and as it is elsewhere", () => {
  expect(readable('{"a":1}')).toEqual({ a: 1 });
  expect(readable("<html>")).toBe("<html>");
});
