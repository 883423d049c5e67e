// The log of a trial, a task or the master: filters in the address, a search with hits, lines that come in as they are
// written, a link to every line.

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../ui/Button";
import { Empty } from "../ui/Empty";
import { ErrorCard } from "../ui/ErrorCard";
import { Skeleton } from "../ui/Skeleton";
import { isFiltered } from "./filters";
import { markerOf } from "./find";
import { LogRows } from "./LogRows";
import { LogToolbar } from "./LogToolbar";
import css from "./LogView.module.css";
import { shownNumber } from "./line";
import type { LogSource } from "./source";
import { type Hits, useHits, useLog } from "./useLog";
import { useHeightToBottom, useLineAddress } from "./useLogPlace";
import { useLogState } from "./useLogState";

export interface LogViewProps {
  source: LogSource;
  /** What to say while there is nothing, such as that the container is starting. */
  emptyText?: string;
}

/** Hits are counted again after so many new lines. */
const RECOUNT_LINES = 200;

export function LogView({ source, emptyText }: LogViewProps) {
  const settings = useLogState();
  const [current, setCurrent] = useLineAddress();
  const [follows, setFollows] = useState(current === null);
  const { feed, view } = useLog(source, settings.filters, current);
  const box = useRef<HTMLDivElement>(null);
  const height = useHeightToBottom(box);
  feed.sticks = follows;
  useEffect(() => {
    if (current !== null) setFollows(false);
  }, [current]);
  const lastId = view.lines.at(-1)?.id ?? 0;
  const hits = useHits(source, settings.filters, settings.find, settings.isRegex, Math.floor(lastId / RECOUNT_LINES));
  const marker = useMemo(() => markerOf(settings.find, settings.isRegex), [settings.find, settings.isRegex]);
  const show = useCallback(
    (id: number): void => {
      setFollows(false);
      setCurrent(id);
      if (!feed.snapshot().lines.some((line) => line.id === id)) void feed.open(id);
    },
    [feed, setCurrent],
  );
  const toEnd = (): void => {
    setFollows(true);
    setCurrent(null);
    if (!view.atEnd) void feed.open(null);
  };
  return (
    <div className={css["view"]} ref={box} style={{ ["--log-height" as string]: `${height}px` }}>
      <LogToolbar source={source} settings={settings} hits={hits} current={current} onShow={show} fullscreenOf={box} />
      <div className={css["body"]}>
        <Body
          view={view}
          onRetry={() => void feed.open(null)}
          isFiltered={isFiltered(settings.filters)}
          onClear={settings.clear}
          emptyText={emptyText}
        >
          <LogRows
            feed={feed}
            view={view}
            isWrapped={settings.isWrapped}
            hasTimes={settings.hasTimes}
            marker={marker}
            current={current}
            follows={follows}
            onFollow={setFollows}
          />
        </Body>
        {!follows && view.lines.length > 0 && (
          <div className={css["more"]}>
            <Button kind="primary" onPress={toEnd}>
              {view.isOver ? "To the end" : "Follow"}
            </Button>
          </div>
        )}
      </div>
      <Status view={view} hits={hits} find={settings.find} follows={follows} />
    </div>
  );
}

interface BodyProps {
  view: ReturnType<typeof useLog>["view"];
  onRetry: () => void;
  isFiltered: boolean;
  onClear: () => void;
  emptyText: string | undefined;
  children: React.ReactNode;
}

function Body({ view, onRetry, isFiltered: hasFilters, onClear, emptyText, children }: BodyProps) {
  if (view.status === "failed") return <ErrorCard error={view.error} onRetry={onRetry} />;
  if (view.status === "loading") return <Skeleton rows={12} />;
  if (view.lines.length > 0) return children;
  if (hasFilters) {
    return (
      <Empty title="No line passes the filters">
        <Button kind="plain" onPress={onClear}>
          Clear the filters
        </Button>
      </Empty>
    );
  }
  const words = view.isOver ? "It wrote none, or they were removed when their retention ended." : emptyText;
  return <Empty title={view.isOver ? "No log lines" : "No log lines yet"}>{words}</Empty>;
}

function Status({
  view,
  hits,
  find,
  follows,
}: {
  view: BodyProps["view"];
  hits: Hits;
  find: string;
  follows: boolean;
}) {
  const first = view.lines[0];
  const last = view.lines.at(-1);
  return (
    <div className={css["status"]}>
      {first !== undefined && last !== undefined && (
        <span>
          Lines {shownNumber(first.id)} to {shownNumber(last.id)}
          {view.atStart ? "" : ", earlier ones above"}
        </span>
      )}
      {find !== "" && <span role="status">{hits.error ?? hitText(hits)}</span>}
      <span>{view.isOver ? "The log is complete." : follows ? "Following." : "Not following."}</span>
    </div>
  );
}

function hitText(hits: Hits): string {
  if (hits.isPending) return "Looking…";
  const n = hits.ids.length.toLocaleString("en");
  if (!hits.isAll) return `more than ${n} matching lines`;
  return hits.ids.length === 1 ? "1 matching line" : `${n} matching lines`;
}
