// The look of a trial's line, the same on every page: 8 hues and 3 dash patterns chosen by the trial's id alone.

export interface Look {
  /** A CSS colour: a custom property of the theme. */
  colour: string;
  dash: number[];
}

export const HUES = 8;

const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3]];

export function colourOf(trialId: number): Look {
  const id = Math.abs(Math.trunc(trialId));
  return { colour: `var(--series-${id % HUES})`, dash: [...(DASHES[Math.floor(id / HUES) % DASHES.length] ?? [])] };
}

/**
 * The look of a series: by its trial, or by its own id when it belongs to none, so that it does not change with its
 * neighbours. `nth` counts series of the same trial in one chart (training and validation) and moves on the dash.
 */
export function lookOf(series: { id: string; trialId?: number }, nth = 0): Look {
  return colourOf((series.trialId ?? hash(series.id)) + HUES * nth + Math.floor(nth / DASHES.length));
}

function hash(text: string): number {
  let value = 7;
  for (const letter of text) value = (value * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  return value;
}
