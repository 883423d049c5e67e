// Who may do what to models and versions, in sentences; what a deletion asks first. Pure.
import { plural } from "../../ui/format";
import type { Question } from "../../ui/useConfirm";

export const OF_ARCHIVED = "It is archived. Unarchive it to change it.";

/** A model with several versions: their number is typed, as wherever several things are deleted. */
export function deletionOf(model: { name: string; numVersions: number }): Question {
  const { name, numVersions } = model;
  const versions = numVersions === 0 ? "" : ` with its ${plural(numVersions, "version")}`;
  return {
    title: `Delete model ${name}${versions}?`,
    text: "Its versions, aliases and their history, notes and metadata are gone for good. The checkpoints stay, but nothing keeps their files any more.",
    verb: "Delete",
    typedCount: numVersions,
    isDanger: true,
  };
}

export function versionDeletionOf(model: string, version: number, aliases: readonly string[]): Question {
  const named = aliases.length === 0 ? "" : ` Its aliases go with it: ${aliases.join(", ")}.`;
  return {
    title: `Delete version ${version} of ${model}?`,
    text: `Its number is not given again.${named} The checkpoint stays, but this version keeps its files no more.`,
    verb: "Delete",
    isDanger: true,
  };
}

/** Why a version of this registrant may not be deleted. */
export function whyVersionStays(username: string | null | undefined, owner: string): string {
  const names = [...new Set([username, owner])].filter(Boolean).join(" and ");
  return `Only ${names}, the owner of its experiment and administrators may delete it.`;
}
