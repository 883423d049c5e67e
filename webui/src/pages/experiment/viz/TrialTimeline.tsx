// When each trial ran, those that still run included.

import { useEffect, useState } from "react";
import { isEnded } from "../../../actions/verbs";
import { navigate } from "../../../url";
import { Timeline } from "../../../viz/Timeline";
import { timelineRows } from "../timelineRows";
import type { VizProps } from "./types";

const TICK_MS = 5000;

export function TrialTimeline({ experiment, found }: VizProps) {
  const now = useNow(!isEnded(experiment.state));
  const trials = [...found.trials].sort((a, b) => a.id - b.id);
  return (
    <Timeline
      rows={timelineRows(trials)}
      now={now}
      onPick={(id) => navigate(`/experiments/${experiment.id}/trials/${id}`)}
    />
  );
}

function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
