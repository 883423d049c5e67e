// Parallel coordinates: every trial a line through its hyperparameters; brushes on axes filter the trials below.

import { useMemo } from "react";
import { searcherMetric } from "../../../detail/config";
import css from "../../../detail/detail.module.css";
import { Button } from "../../../ui/Button";
import { navigate, useUrlState } from "../../../url";
import { ParallelCoordinates } from "../../../viz/ParallelCoordinates";
import { passes } from "../../../viz/parallel";
import type { Brushes } from "../../../viz/types";
import { TrialTable } from "../TrialTable";
import { brushes as brushCodec } from "./brushes";
import { NeedsTrials } from "./Needs";
import type { VizProps } from "./types";
import { useVizRows } from "./useVizRows";

const NONE: Brushes = {};
const METRIC_AXIS = "metric value";
const SHOWN = 50;

export function Parallel({ experiment, found }: VizProps) {
  const { rows, metricKey, controls } = useVizRows({ experiment, found });
  const [brushes, setBrushes] = useUrlState("brush", brushCodec, NONE);
  const drawn = useMemo(
    () =>
      rows.flatMap((row) =>
        row.metric === undefined
          ? []
          : [{ id: row.id, values: { ...row.values, [METRIC_AXIS]: row.metric }, metric: row.metric }],
      ),
    [rows],
  );
  const axes = useMemo(
    () => [...found.axes, { key: METRIC_AXIS, label: metricKey, kind: "linear" as const }],
    [found.axes, metricKey],
  );
  const kept = useMemo(
    () => new Set(drawn.filter((row) => passes(row, brushes)).map((row) => row.id)),
    [drawn, brushes],
  );
  if (drawn.length < 2) return <NeedsTrials />;
  const listed = found.trials.filter((trial) => kept.has(trial.id));
  return (
    <div className={css["stack"]}>
      {controls}
      <ParallelCoordinates
        axes={axes}
        rows={drawn}
        brushes={brushes}
        onBrush={setBrushes}
        onPick={(id) => navigate(`/experiments/${experiment.id}/trials/${id}`)}
      />
      <div className={css["row"]} role="status">
        {listed.length} of {drawn.length} trials pass the brushes.
        {Object.keys(brushes).length > 0 && <Button onPress={() => setBrushes(NONE)}>Clear the brushes</Button>}
      </div>
      <TrialTable
        caption={listed.length > SHOWN ? `The best ${SHOWN} of ${listed.length} trials that pass` : "Trials that pass"}
        trials={listed.slice(0, SHOWN)}
        axes={found.axes}
        metricName={searcherMetric(experiment.config) ?? "metric"}
      />
    </div>
  );
}
