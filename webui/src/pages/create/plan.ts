// What a dry run says, in words. Pure.
import { count, plural, straight } from "../../ui/format";
import type { DryRun } from "./draft";

/** "Creates 16 trials of 2 slots each." */
export function trialWords({ trials, slotsPerTrial }: DryRun): string {
  if (!trials) return "";
  const slots = slotsPerTrial ? ` of ${plural(slotsPerTrial, "slot")} each` : " without slots";
  if (trials.min === null || trials.max === null)
    return `Creates as many trials as its search program asks for,${slots}.`;
  if (trials.min !== trials.max) return `Creates ${count(trials.min)} to ${count(trials.max)} trials${slots}.`;
  const one = trials.max === 1 ? slots.replace(" each", "") : slots;
  return `Creates ${trials.exact ? "" : "about "}${plural(trials.max, "trial")}${one}.`;
}

/** "Trains 1,600 batches in all, on at most 8 slots at once." */
export function sizeWords({ units, maxSlots, trials }: DryRun): string {
  const total = units?.total;
  const name = units?.name ?? "units";
  const training = total ? `trains ${units?.exact ? "" : "about "}${count(total)} ${name} in all` : "";
  const isOne = trials?.max === 1;
  const slots = maxSlots && !isOne ? `uses at most ${plural(maxSlots, "slot")} at once` : "";
  const words = [training, slots].filter((part) => part !== "").join(", ");
  return words === "" ? "" : sentence(words);
}

export function startWords({ starts, reason, pool }: DryRun): string {
  if (starts === "now") return pool ? `Starts now in pool ${pool}.` : "Starts now.";
  if (starts === "waits") return sentence(straight(reason ?? "waits: the cluster is busy"));
  return "";
}

/** "From template gpu: resources.priority." */
export function templateWords({ fromTemplate }: DryRun, template: string): string {
  if (!fromTemplate) return "";
  return fromTemplate.length > 0
    ? `From template ${template}: ${fromTemplate.join(", ")}.`
    : `Everything that template ${template} sets is set by this configuration too.`;
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!]$/.test(words) ? "" : "."}`;
}
