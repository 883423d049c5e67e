// The controls of a page of charts: x axis, logarithm, smoothing, outliers, and back from a zoom.

import { Button } from "../ui/Button";
import { Select } from "../ui/Select";
import { Slider } from "../ui/Slider";
import { Switch } from "../ui/Switch";
import { AXES, type ChartSettings } from "./chartSettings";
import css from "./detail.module.css";
import type { XAxis } from "./series";

const AXIS_LABELS: Record<XAxis, string> = {
  batch: "Batches",
  epoch: "Epoch",
  time: "Time",
  relative: "Relative time",
};
const AXIS_OPTIONS = AXES.map((axis) => ({ id: axis, label: AXIS_LABELS[axis] }));

export function ChartControls({ settings, children }: { settings: ChartSettings; children?: React.ReactNode }) {
  return (
    <div className={css["controls"]}>
      {children}
      <Select
        label="X axis"
        value={settings.axis}
        options={AXIS_OPTIONS}
        onChange={(id) => settings.setAxis(AXES.find((axis) => axis === id) ?? "batch")}
      />
      <Slider
        label="Smoothing"
        value={settings.smoothing}
        minValue={0}
        maxValue={0.99}
        step={0.01}
        onChange={settings.setSmoothing}
      />
      <Switch isSelected={settings.isLog} onChange={settings.setLog}>
        Log scale
      </Switch>
      <Switch isSelected={settings.hidesOutliers} onChange={settings.setHidesOutliers}>
        Ignore outliers
      </Switch>
      {settings.zoom !== null && (
        <Button kind="plain" onPress={() => settings.setZoom(null)}>
          Reset zoom
        </Button>
      )}
    </div>
  );
}
