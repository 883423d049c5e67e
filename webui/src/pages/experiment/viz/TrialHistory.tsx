// The result of every trial in the order in which they were made, with the best so far.

import { isSmallerBetter } from "../../../detail/config";
import css from "../../../detail/detail.module.css";
import { navigate } from "../../../url";
import { History } from "../../../viz/History";
import { NeedsTrials } from "./Needs";
import type { VizProps } from "./types";
import { useVizRows } from "./useVizRows";

export function TrialHistory({ experiment, found }: VizProps) {
  const { rows, metricKey, controls } = useVizRows({ experiment, found });
  const order = new Map([...rows].sort((a, b) => a.id - b.id).map((row, i) => [row.id, i + 1]));
  const points = rows.flatMap((row) =>
    row.metric === undefined
      ? []
      : [{ id: row.id, x: order.get(row.id) ?? 0, y: row.metric, label: `Trial ${row.id}` }],
  );
  if (points.length < 2) return <NeedsTrials />;
  return (
    <div className={css["stack"]}>
      {controls}
      <History
        points={points}
        best={isSmallerBetter(experiment.config) ? "lower" : "higher"}
        xLabel="trials made"
        yLabel={metricKey}
        height={400}
        onPick={(id) => navigate(`/experiments/${experiment.id}/trials/${id}`)}
      />
    </div>
  );
}
