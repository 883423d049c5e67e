// A webhook in words: its name, what it is called for, its triggers, and the parts of a configuration that name it. Pure.
import type { Schemas } from "../../api/schema";
import { ago } from "../../ui/format";

export type Webhook = Schemas["Webhook"];
export type Trigger = Schemas["Trigger"];
export type Delivery = Schemas["WebhookDelivery"];

/** Words of ours, or somebody's own words, which are shown in an element of their own; `key` is what they are. */
export type Part = string | { key: string; own: string };

const EVENTS: Record<string, string> = {
  EXPERIMENT_STATE_CHANGE: "State of an experiment",
  TASK_LOG: "Line of a log",
  METRIC_THRESHOLD_EXCEEDED: "Metric",
  CUSTOM: "Alert",
};
const SOON_MS = 5_000;
// what a double-quoted text of YAML cannot hold, or what would turn the direction of writing
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

export function titleOf({ name, id }: Webhook): string {
  return name || `Webhook ${id}`;
}

export function pathOf({ id }: Webhook): string {
  return `/webhooks/${id}`;
}

export function isSpecific({ mode }: Webhook): boolean {
  return mode === "WEBHOOK_MODE_SPECIFIC";
}

export function formatOf({ webhookType }: Webhook): string {
  return webhookType === "WEBHOOK_TYPE_SLACK" ? "Slack message" : "JSON";
}

/** Whether it is among those looked for: by words of its name or address; `workspaceId` 0 is any. */
export function matches(webhook: Webhook, query: string, workspaceId: number): boolean {
  const words = `${titleOf(webhook)} ${webhook.url}`.toLowerCase();
  return words.includes(query.trim().toLowerCase()) && (workspaceId === 0 || webhook.workspaceId === workspaceId);
}

/** Who else may do what a reader may not. */
export function reasonOf({ workspaceId }: Webhook): string {
  return workspaceId
    ? "Only the owner of its workspace and administrators may change it and read its deliveries."
    : "It belongs to the whole cluster: only administrators may change it, see its address and read its deliveries.";
}

export function eventOf(type: string): string {
  return EVENTS[type] ?? type;
}

export function hasAlerts({ triggers }: Webhook): boolean {
  return (triggers ?? []).some((trigger) => trigger.triggerType === "TRIGGER_TYPE_CUSTOM");
}

/** When a trigger calls its webhook: "a line of a log matches" and the pattern. */
export function triggerParts({ triggerType, condition }: Trigger): Part[] {
  const given = condition ?? {};
  const own = (key: string): Part => ({ key, own: String(given[key]) });
  switch (triggerType) {
    case "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE":
      return ["An experiment becomes ", own("state")];
    case "TRIGGER_TYPE_TASK_LOG":
      return ["A line of a log matches ", own("regex")];
    case "TRIGGER_TYPE_CUSTOM":
      return ["A script calls ", { key: "call", own: "core_context.alert()" }];
    case "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED":
      return "no_report_for" in given
        ? ["A running trial reports no metrics for ", own("no_report_for")]
        : ["Metric ", own("metric"), " of group ", own("group"), ` ${given["operator"]} ${given["value"]}`];
    default:
      return [{ key: "condition", own: JSON.stringify(condition) }];
  }
}

/** What a configuration says to choose a webhook: its name, or its number where it has none. */
export function choiceSnippet({ id, name }: Webhook): string {
  return name ? choice("webhook_name", quoted(name)) : choice("webhook_id", String(id));
}

export const EXCLUDE_SNIPPET = "integrations:\n  webhooks:\n    exclude: true";
export const ALERT_SNIPPET = 'core_context.alert("loss is NaN", description="batch 700", level="error")';

function choice(key: string, value: string): string {
  return `integrations:\n  webhooks:\n    ${key}:\n      - ${value}`;
}

/** In double quotes for YAML, whose escapes are those of JSON and more. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(UNPRINTABLE, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** What the receiver has answered in few words, or why it could not. */
export function answerOf({ statusCode, error }: Delivery): string {
  if (statusCode) return String(statusCode);
  return error ? "none" : "";
}

/** When a delivery that waits is sent again; an empty text for the others. After its time other deliveries come first. */
export function nextTry({ state, nextAttemptAt }: Delivery, now: number = Date.now()): string {
  if (state !== "DELIVERY_STATE_PENDING" || !nextAttemptAt) return "";
  return Date.parse(nextAttemptAt) < now + SOON_MS ? "soon" : ago(nextAttemptAt, now);
}

/** A body as it was sent, to read: pretty where it is JSON. */
export function readable(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}
