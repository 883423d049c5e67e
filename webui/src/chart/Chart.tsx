// The one line chart of the product: bands, exact zoom, smoothing, shared cursor, keyboard, words and a table twin.
import { useCallback, useId, useMemo, useRef, useState, useSyncExternalStore } from "react";
import styles from "./Chart.module.css";
import { ChartHeader } from "./ChartHeader";
import { ChartTable } from "./ChartTable";
import { csvOf } from "./csv";
import { frameOf } from "./frame";
import { useGroup, useMembership } from "./group";
import { useInk } from "./ink";
import { Legend } from "./Legend";
import { linesOf, shownLines } from "./lines";
import { PlotArea } from "./PlotArea";
import type { Plot, View } from "./plot";
import { downloadCsv, downloadPng, drawPng } from "./png";
import { summaryOf } from "./summary";
import type { Better, Marker, Range, Series, XKind } from "./types";

export interface ChartProps {
  title: string;
  series: readonly Series[];
  xLabel: string;
  yLabel?: string | undefined;
  xKind?: XKind | undefined;
  logX?: boolean | undefined;
  logY?: boolean | undefined;
  /** What of a value remains one step later, 0 to 1. */
  smoothing?: number | undefined;
  hideOutliers?: boolean | undefined;
  height?: number | undefined;
  /** Given (null is all of it), the page keeps the zoom; left out, the chart does. */
  range?: Range | null | undefined;
  onZoom?: ((range: [number, number] | null) => void) | undefined;
  syncKey?: string | undefined;
  markers?: readonly Marker[] | undefined;
  note?: string | undefined;
  /** Starts as a table. */
  table?: boolean | undefined;
  better?: Better | undefined;
  /** The first answer is on its way: that there is nothing is not known yet. */
  isLoading?: boolean | undefined;
  /** Where every point can be had as a file, when the lines are in buckets. */
  allPointsUrl?: string | undefined;
}

const NO_MARKERS: readonly Marker[] = [];

export function Chart(props: ChartProps) {
  const { title, series, xLabel, yLabel = title, xKind = "number", height = 220, note, better } = props;
  const isLoading = props.isLoading === true && series.length === 0;
  const id = useId();
  const group = useGroup(props.syncKey);
  const solo = useSyncExternalStore(group.subscribe, group.getSolo);
  const [zoom, setZoom] = useZoom(props.range, props.onZoom);
  const [asTable, setAsTable] = useState(props.table ?? false);
  const plot = useRef<Plot | null>(null);
  const lines = useMemo(() => linesOf(series, props.smoothing ?? 0), [series, props.smoothing]);
  const view = useView(props, lines, solo, zoom);
  useMembership(id, { title, xLabel, xKind, lines });
  const words = [note, ...view.frame.words].filter((word) => word !== undefined && word !== "").join(" ");
  const summary = useMemo(
    () => (isLoading ? `${title}: loading.` : summaryOf(title, view.lines, { xLabel, xKind, better })),
    [isLoading, title, view.lines, xLabel, xKind, better],
  );
  const savePng = () => {
    if (plot.current !== null) downloadPng(drawPng(plot.current.canvas, title, view.lines, view.ink), title);
  };
  return (
    <figure className={styles.chart} aria-labelledby={`${id}-title`}>
      <ChartHeader
        titleId={`${id}-title`}
        title={title}
        words={words}
        x={view.frame.x}
        xLabel={xLabel}
        xKind={xKind}
        zoomed={zoom !== null}
        asTable={asTable}
        onTable={() => setAsTable(!asTable)}
        onZoom={setZoom}
        onShowAll={solo === null ? undefined : () => group.showAll()}
        allPointsUrl={view.lines.some((line) => line.bucketed) ? props.allPointsUrl : undefined}
        onCsv={() => downloadCsv(csvOf(view.lines, xLabel, yLabel), title)}
        onPng={savePng}
      />
      <p id={`${id}-summary`} className="visually-hidden">
        {summary}
      </p>
      {asTable ? (
        <ChartTable title={title} lines={view.lines} x={view.frame.x} xLabel={xLabel} xKind={xKind} height={height} />
      ) : (
        <>
          <PlotArea
            title={title}
            summaryId={`${id}-summary`}
            view={view}
            isLoading={isLoading}
            height={height}
            group={group}
            onZoom={setZoom}
            plot={plot}
          />
          <Legend lines={lines} solo={solo} group={group} xLabel={xLabel} xKind={xKind} />
        </>
      )}
    </figure>
  );
}

/** What is drawn, remade only when data or a wish of the reader changes. */
function useView(props: ChartProps, lines: ReturnType<typeof linesOf>, solo: string | null, zoom: Range | null): View {
  const { title, xLabel, xKind = "number", markers = NO_MARKERS } = props;
  const { logX = false, logY = false, hideOutliers = false, smoothing = 0 } = props;
  const ink = useInk();
  const from = zoom?.[0];
  const to = zoom?.[1];
  return useMemo(() => {
    const range = from === undefined || to === undefined ? null : ([from, to] as const);
    const shown = shownLines(lines, solo);
    const asked = JSON.stringify([title, xKind, logX, logY, hideOutliers, smoothing, solo, range]);
    const frame = frameOf(shown, { logX, logY, hideOutliers, range });
    return { frame, lines: shown, markers, ink, smoothing: smoothing > 0, xLabel, xKind, asked };
  }, [lines, solo, from, to, title, xLabel, xKind, markers, logX, logY, hideOutliers, smoothing, ink]);
}

function useZoom(range: ChartProps["range"], onZoom: ChartProps["onZoom"]) {
  const [own, setOwn] = useState<Range | null>(null);
  const set = useCallback(
    (next: Range | null) => {
      setOwn(next);
      onZoom?.(next === null ? null : [next[0], next[1]]);
    },
    [onZoom],
  );
  return [range === undefined ? own : range, set] as const;
}
