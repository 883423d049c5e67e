// One scatter plot per hyperparameter against the metric.

import { useMemo } from "react";
import css from "../../../detail/detail.module.css";
import { InView } from "../../../detail/InView";
import { Switch } from "../../../ui/Switch";
import { flag, navigate, useUrlState } from "../../../url";
import { Scatter } from "../../../viz/Scatter";
import { NeedsTrials } from "./Needs";
import type { VizProps } from "./types";
import { useVizRows } from "./useVizRows";

export function Scatters({ experiment, found }: VizProps) {
  const { rows, metricKey, controls } = useVizRows({ experiment, found });
  const [isLog, setLog] = useUrlState("log", flag, false);
  const yAxis = useMemo(
    () => ({ key: "metric", label: metricKey, kind: isLog ? ("log" as const) : ("linear" as const) }),
    [metricKey, isLog],
  );
  const drawn = rows.filter((row) => row.metric !== undefined);
  if (drawn.length < 2) return <NeedsTrials />;
  return (
    <div className={css["stack"]}>
      {controls}
      <Switch isSelected={isLog} onChange={setLog}>
        Log scale
      </Switch>
      <div className={css["split"]}>
        {found.axes.map((axis) => (
          <InView key={axis.key} height={340}>
            <Scatter
              title={`${metricKey} by ${axis.label}`}
              points={drawn.flatMap((row) => {
                const x = row.values[axis.key];
                return x === undefined || row.metric === undefined
                  ? []
                  : [{ id: row.id, x, y: row.metric, label: `Trial ${row.id}` }];
              })}
              xAxis={axis}
              yAxis={yAxis}
              height={280}
              onPick={(id) => navigate(`/experiments/${experiment.id}/trials/${id}`)}
            />
          </InView>
        ))}
      </div>
    </div>
  );
}
