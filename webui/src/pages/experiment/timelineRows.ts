// Trials as rows of a timeline.

import type { Trial } from "../../detail/types";

export interface TimelineRow {
  id: number;
  label: string;
  state: string;
  segments: { start: number; end?: number; state: string }[];
}

export function timelineRows(trials: readonly Trial[]): TimelineRow[] {
  return trials.map((trial) => {
    const start = Date.parse(trial.startTime);
    const end = trial.endTime ? Date.parse(trial.endTime) : undefined;
    const segment = { start, state: trial.state, ...(end === undefined ? {} : { end }) };
    return { id: trial.id, label: `Trial ${trial.id}`, state: trial.state, segments: [segment] };
  });
}
