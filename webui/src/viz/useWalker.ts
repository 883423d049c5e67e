// The keyboard of a picture: which mark it is on, that mark in words, and what keys do.
import { type KeyboardEvent, useState } from "react";
import { walked } from "./walker";

interface WalkerOptions<T> {
  marks: readonly T[];
  describe: (mark: T) => string;
  onPick?: ((mark: T) => void) | undefined;
}

export interface Walker {
  count: number;
  /** From 1; 0 is none. */
  position: number;
  words: string;
  onKeyDown: (event: KeyboardEvent) => void;
  onBlur: () => void;
}

export function useWalker<T>({ marks, describe, onPick }: WalkerOptions<T>): Walker & { mark: T | undefined } {
  const [at, setAt] = useState<number | null>(null);
  const index = at === null || marks.length === 0 ? null : Math.min(at, marks.length - 1);
  const mark = index === null ? undefined : marks[index];
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const picks = event.key === "Enter" || event.key === " ";
    const next = walked(event.key, index, marks.length);
    if (picks && mark !== undefined) onPick?.(mark);
    else if (next !== undefined) setAt(next);
    else return;
    event.preventDefault();
  };
  const position = index === null ? 0 : index + 1;
  const words =
    mark === undefined ? "none; arrow keys walk, Enter opens" : `${describe(mark)}; ${position} of ${marks.length}`;
  return { mark, count: marks.length, position, words, onKeyDown, onBlur: () => setAt(null) };
}
