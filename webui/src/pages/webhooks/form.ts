// The form of a new webhook: what is typed, what is sent, and which field the master's refusal belongs to. Pure.
import { ApiError } from "../../api/client";
import { isRecord } from "../../detail/plain";
import type { Trigger, Webhook } from "./webhook";

export type TriggerKind = "state" | "log" | "metric" | "silence" | "alert";

export interface TriggerForm {
  /** Tells the triggers of a form apart while some come and go. */
  key: number;
  kind: TriggerKind;
  state: string;
  regex: string;
  metric: string;
  group: string;
  operator: string;
  value: string;
  silence: string;
}

export interface WebhookForm {
  name: string;
  url: string;
  /** 0: the whole cluster. */
  workspaceId: number;
  isSlack: boolean;
  isSpecific: boolean;
  triggers: readonly TriggerForm[];
}

/** A refusal, and where it belongs: `url`, `triggers[1].regex`; an empty text for the whole form. */
export interface Refusal {
  field: string;
  words: string;
}

export const KINDS: readonly { id: TriggerKind; label: string }[] = [
  { id: "state", label: "an experiment gets a state" },
  { id: "log", label: "a line of a log matches" },
  { id: "metric", label: "a metric passes a limit" },
  { id: "silence", label: "a trial falls silent" },
  { id: "alert", label: "a script calls core_context.alert()" },
];
export const STATES = ["COMPLETED", "ERROR", "CANCELED", "PAUSED", "ACTIVE"] as const;
export const OPERATORS = ["<", "<=", ">", ">=", "==", "!="] as const;
/** As the master takes them. */
export const MOST_TRIGGERS = 50;

const MINUTES = /^\d+(\.\d+)?$/;

export function triggerForm(key: number): TriggerForm {
  return {
    key,
    kind: "state",
    state: "COMPLETED",
    regex: "",
    metric: "validation_loss",
    group: "validation",
    operator: "<",
    value: "",
    silence: "30",
  };
}

export function emptyForm(workspaceId: number): WebhookForm {
  return { name: "", url: "", workspaceId, isSlack: false, isSpecific: false, triggers: [triggerForm(0)] };
}

/** The form that would make the same webhook once more. */
export function formOf(webhook: Webhook): WebhookForm {
  return {
    name: webhook.name ?? "",
    url: webhook.url,
    workspaceId: webhook.workspaceId ?? 0,
    isSlack: webhook.webhookType === "WEBHOOK_TYPE_SLACK",
    isSpecific: webhook.mode === "WEBHOOK_MODE_SPECIFIC",
    triggers: (webhook.triggers ?? []).map((trigger, key) => ({ ...triggerForm(key), ...typedOf(trigger) })),
  };
}

export function bodyOf(form: WebhookForm): Webhook {
  return {
    name: form.name.trim(),
    url: form.url.trim(),
    workspaceId: form.workspaceId || null,
    webhookType: form.isSlack ? "WEBHOOK_TYPE_SLACK" : "WEBHOOK_TYPE_DEFAULT",
    mode: isNamedOnly(form) ? "WEBHOOK_MODE_SPECIFIC" : "WEBHOOK_MODE_WORKSPACE",
    triggers: form.triggers.map(triggerOf),
  };
}

/** Alerts go only to the webhooks that an experiment names. */
export function isNamedOnly(form: WebhookForm): boolean {
  return form.isSpecific || form.triggers.some(({ kind }) => kind === "alert");
}

export function triggerOf(typed: TriggerForm): Trigger {
  const { group, metric, operator } = typed;
  switch (typed.kind) {
    case "state":
      return { triggerType: "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", condition: { state: typed.state } };
    case "log":
      return { triggerType: "TRIGGER_TYPE_TASK_LOG", condition: { regex: typed.regex } };
    case "alert":
      return { triggerType: "TRIGGER_TYPE_CUSTOM", condition: {} };
    case "silence":
      return { triggerType: "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED", condition: { no_report_for: timeOf(typed) } };
    case "metric": {
      const condition = { metric: metric.trim(), group: group.trim(), operator, value: numberOf(typed.value) };
      return { triggerType: "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED", condition };
    }
  }
}

/** The field that a refusal names in its details. */
export function refusalOf(error: unknown): Refusal {
  const words = error instanceof Error ? error.message : String(error);
  const details = error instanceof ApiError ? error.details : null;
  const named = isRecord(details) ? details["field"] : undefined;
  return { field: typeof named === "string" ? named : "", words };
}

/** What is said at a field; `field` alone takes what is said of it as a whole. */
export function wordsAt(refusal: Refusal | null, field: string): string | undefined {
  return refusal?.field === field ? refusal.words : undefined;
}

function typedOf({ triggerType, condition }: Trigger): Partial<TriggerForm> {
  const given = condition ?? {};
  const word = (key: string) => (given[key] === undefined ? "" : String(given[key]));
  if (triggerType === "TRIGGER_TYPE_CUSTOM") return { kind: "alert" };
  if (triggerType === "TRIGGER_TYPE_TASK_LOG") return { kind: "log", regex: word("regex") };
  if (triggerType === "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE") return { kind: "state", state: word("state") };
  if ("no_report_for" in given) return { kind: "silence", silence: word("no_report_for").replace(/^(\d+)m$/, "$1") };
  return {
    kind: "metric",
    metric: word("metric"),
    group: word("group"),
    operator: word("operator"),
    value: word("value"),
  };
}

/** Minutes, or a duration with its unit. What is neither goes to the master, which says what is wrong with it. */
function timeOf({ silence }: TriggerForm): string {
  const typed = silence.trim();
  return MINUTES.test(typed) ? `${typed}m` : typed;
}

function numberOf(typed: string): number | string {
  const number = Number(typed);
  return typed.trim() !== "" && Number.isFinite(number) ? number : typed;
}
