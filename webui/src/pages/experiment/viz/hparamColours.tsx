// Learning curves coloured by a hyperparameter: where a trial's value lies on its axis, and the key to the colours.

import { useCallback, useMemo } from "react";
import { useInk } from "../../../chart/ink";
import { pointOf } from "../../../detail/hparams";
import { type AxisScale, axisScale, unitOf } from "../../../viz/axis";
import { ColourBar } from "../../../viz/ColourBar";
import { viridisOn } from "../../../viz/viridis";
import viz from "../../../viz/viz.module.css";
import type { TrialsAnswer } from "../useTrials";

export const BY_TRIAL = "trial";

export function useHparamColours(found: TrialsAnswer, name: string) {
  const ink = useInk();
  const axis = found.axes.find(({ key }) => key === name);
  const points = useMemo(
    () => new Map(found.trials.map(({ id }, n) => [id, pointOf(found.flats[n]?.[name])])),
    [found.trials, found.flats, name],
  );
  const scale = useMemo(() => (axis === undefined ? null : axisScale(axis, points.values())), [axis, points]);
  const colour = useCallback((unit: number) => viridisOn(ink.dark, unit), [ink.dark]);
  const colourOf = useCallback(
    (trialId: number) => {
      const unit = scale === null ? Number.NaN : unitOf(scale, points.get(trialId));
      return Number.isNaN(unit) ? undefined : colour(unit);
    },
    [scale, points, colour],
  );
  if (scale === null || axis === undefined) return { colourOf: undefined, key: null };
  return { colourOf, key: <Key label={axis.label} scale={scale} colour={colour} /> };
}

function Key({ label, scale, colour }: { label: string; scale: AxisScale; colour: (unit: number) => string }) {
  if (scale.kind === "number")
    return <ColourBar label={label} lo={scale.scale.lo} hi={scale.scale.hi} colour={colour} />;
  return (
    <p className={viz["colourBar"]}>
      {label}
      {scale.values.map((value) => (
        <span key={value}>
          <span className={viz["swatch"]} style={{ background: colour(unitOf(scale, value)) }} aria-hidden="true" />{" "}
          {value}
        </span>
      ))}
    </p>
  );
}
