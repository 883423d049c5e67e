// Title, the words about what is (not) shown, and the menu of a chart: table, zoom without dragging, downloads.
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { Button } from "../ui/Button";
import { Menu } from "../ui/Menu";
import styles from "./Chart.module.css";
import { saveFrom } from "./png";
import type { Scale } from "./scale";
import type { Range, XKind } from "./types";
import { ZoomForm } from "./ZoomForm";

interface ChartHeaderProps {
  titleId: string;
  title: string;
  words: string;
  x: Scale;
  xLabel: string;
  xKind: XKind;
  zoomed: boolean;
  asTable: boolean;
  onTable: () => void;
  onZoom: (range: Range | null) => void;
  onShowAll: (() => void) | undefined;
  onCsv: () => void;
  allPointsUrl: string | undefined;
  onPng: () => void;
}

export function ChartHeader(props: ChartHeaderProps) {
  const { titleId, title, words, zoomed, asTable, onZoom, onShowAll, allPointsUrl } = props;
  const [zooming, setZooming] = useState(false);
  const items = [
    { id: "table", label: asTable ? "View as chart" : "View as table", onAction: props.onTable },
    { id: "zoom", label: "Zoom to…", onAction: () => setZooming(true) },
    { id: "reset", label: "Reset zoom", onAction: () => onZoom(null), isDisabled: !zoomed },
    { id: "all", label: "Show all series", onAction: () => onShowAll?.(), isDisabled: onShowAll === undefined },
    ...(allPointsUrl === undefined
      ? [{ id: "csv", label: "Download CSV", onAction: props.onCsv }]
      : [
          { id: "all-points", label: "Download CSV of all points", onAction: () => saveFrom(allPointsUrl, title) },
          { id: "csv", label: "Download CSV as drawn (buckets)", onAction: props.onCsv },
        ]),
    { id: "png", label: "Download PNG", onAction: props.onPng, isDisabled: asTable },
  ];
  return (
    <div className={styles.header}>
      <div className={styles.titleRow}>
        <figcaption id={titleId} className={styles.title} title={title}>
          {title}
        </figcaption>
        {zoomed && (
          <Button kind="plain" onPress={() => onZoom(null)}>
            Reset zoom
          </Button>
        )}
        <Menu label={`${title}: chart menu`} items={items} icon={<Ellipsis size={16} aria-hidden="true" />} />
      </div>
      <p className={styles.words} title={words}>
        {words}
      </p>
      {zooming && (
        <ZoomForm
          x={props.x}
          xLabel={props.xLabel}
          xKind={props.xKind}
          onZoom={onZoom}
          onDone={() => setZooming(false)}
        />
      )}
    </div>
  );
}
