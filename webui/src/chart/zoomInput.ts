// Numbers and local times to and from the text of form inputs. Pure.
import type { XKind } from "./types";

export function toInput(value: number, kind: XKind): string {
  if (kind !== "time") return String(Number(value.toPrecision(10)));
  const date = new Date(value * 1000);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** NaN for text that says nothing. */
export function fromInput(text: string, kind: XKind): number {
  if (text.trim() === "") return Number.NaN;
  return kind === "time" ? new Date(text).getTime() / 1000 : Number(text);
}
