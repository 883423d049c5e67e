// When two people write the same notes: what the master holds now, and how two texts become one. Pure.
import { ApiError } from "../api/client";

/** The text or pages as they are now, when a save was refused because somebody else had saved; else undefined. */
export function currentOf<T>(error: unknown): T | undefined {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  return (error.details as { current?: T } | undefined)?.current;
}

/** Both texts, for a reader to join by hand. What they share at both ends is there once. */
export function bothTexts(theirs: string, mine: string): string {
  const [a, b] = [theirs.split("\n"), mine.split("\n")];
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const middle = (lines: string[]) => lines.slice(head, lines.length - tail);
  return [...a.slice(0, head), ...middle(a), ...middle(b), ...a.slice(a.length - tail)].join("\n");
}

export interface NotePage {
  name: string;
  contents: string;
}

/** Where a page is now: others may have been put before it. -1 when it is gone. */
export function placeOf(pages: readonly NotePage[], at: number, before: NotePage): number {
  if (pages[at]?.name === before.name) return at;
  return pages.findIndex((one) => one.name === before.name);
}
