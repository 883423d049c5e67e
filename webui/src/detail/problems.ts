// Problems of a configuration, as the master names them. Pure.
import type { Schemas } from "../api/schema";
import type { LineMarker } from "../ui/CodeEditor";

export type Problem = Schemas["Problem"];

/** Problems beside their lines; several of one line together. */
export function markersOf(problems: readonly Problem[]): LineMarker[] {
  const lines = new Map<number, string[]>();
  for (const { line, message } of problems) {
    if (line) lines.set(line, [...(lines.get(line) ?? []), message]);
  }
  return [...lines].map(([line, messages]) => ({ line, message: messages.join("\n"), kind: "error" as const }));
}
