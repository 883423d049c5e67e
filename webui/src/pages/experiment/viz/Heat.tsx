// The metric over two hyperparameters, as a heat map.

import css from "../../../detail/detail.module.css";
import { Empty } from "../../../ui/Empty";
import { Select } from "../../../ui/Select";
import { navigate, text, useUrlState } from "../../../url";
import { HeatMap } from "../../../viz/HeatMap";
import { NeedsTrials } from "./Needs";
import type { VizProps } from "./types";
import { useVizRows } from "./useVizRows";

export function Heat({ experiment, found }: VizProps) {
  const { rows, metricKey, controls } = useVizRows({ experiment, found });
  const [xKey, setX] = useUrlState("hx", text, found.axes[0]?.key ?? "");
  const [yKey, setY] = useUrlState("hy", text, found.axes[1]?.key ?? "");
  const xAxis = found.axes.find((axis) => axis.key === xKey);
  const yAxis = found.axes.find((axis) => axis.key === yKey);
  if (rows.filter((row) => row.metric !== undefined).length < 2) return <NeedsTrials />;
  if (found.axes.length < 2 || xAxis === undefined || yAxis === undefined) {
    return <Empty title="Too few hyperparameters">A heat map needs two that vary.</Empty>;
  }
  const options = found.axes.map((axis) => ({ id: axis.key, label: axis.label }));
  const points = rows.flatMap((row) => {
    const [x, y] = [row.values[xKey], row.values[yKey]];
    return x === undefined || y === undefined || row.metric === undefined
      ? []
      : [{ id: row.id, x, y, value: row.metric }];
  });
  return (
    <div className={css["stack"]}>
      <div className={css["controls"]}>
        {controls}
        <Select label="Across" value={xKey} options={options} onChange={setX} />
        <Select label="Up" value={yKey} options={options} onChange={setY} />
      </div>
      <HeatMap
        points={points}
        xAxis={xAxis}
        yAxis={yAxis}
        valueLabel={metricKey}
        onPick={(ids) =>
          navigate(
            ids.length === 1 ? `/experiments/${experiment.id}/trials/${ids[0]}` : `/compare?trials=${ids.join(",")}`,
          )
        }
      />
    </div>
  );
}
