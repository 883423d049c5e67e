// How the charts of a page are drawn, kept in its address: x axis, scale, smoothing, outliers, zoom, pins, filter.

import { useMemo } from "react";
import type { Range } from "../chart/types";
import { flag, float, list, oneOf, text, useUrlState } from "../url";
import type { XAxis } from "./series";
import { parseZoom, printZoom } from "./zoom";

export interface ChartSettings {
  axis: XAxis;
  isLog: boolean;
  smoothing: number;
  hidesOutliers: boolean;
  zoom: Range | null;
  setAxis: (axis: XAxis) => void;
  setLog: (isLog: boolean) => void;
  setSmoothing: (smoothing: number) => void;
  setHidesOutliers: (hides: boolean) => void;
  setZoom: (zoom: Range | null) => void;
}

export const AXES: readonly XAxis[] = ["batch", "epoch", "time", "relative"];
const AXIS = oneOf(...AXES);
const NO_PINS: string[] = [];

export function useChartSettings(): ChartSettings {
  const [axis, setAxis] = useUrlState("x", AXIS, "batch");
  const [isLog, setLog] = useUrlState("log", flag, false);
  const [smoothing, setSmoothing] = useUrlState("smooth", float, 0);
  const [hidesOutliers, setHidesOutliers] = useUrlState("outliers", flag, false);
  const [zoomText, setZoomText] = useUrlState("zoom", text, "");
  const zoom = useMemo(() => parseZoom(zoomText), [zoomText]);
  return {
    axis,
    isLog,
    smoothing: Math.min(0.99, Math.max(0, smoothing)),
    hidesOutliers,
    zoom,
    setAxis: (next) => {
      setZoomText("");
      setAxis(next);
    },
    setLog,
    setSmoothing: (next) => setSmoothing(next, "replace"),
    setHidesOutliers,
    setZoom: (next) => setZoomText(printZoom(next)),
  };
}

/** Names of charts that stay in front. */
export function usePins(): [string[], (pins: string[]) => void] {
  return useUrlState("pin", list, NO_PINS);
}
