// The last lines of a log, for a page that shows other things as well.

import { ErrorCard } from "../ui/ErrorCard";
import { parseAnsi } from "./ansi";
import { NO_FILTERS } from "./filters";
import css from "./LogView.module.css";
import type { LogSource } from "./source";
import { useLog } from "./useLog";

export function LogTail({ source, lines = 15, emptyText }: { source: LogSource; lines?: number; emptyText: string }) {
  const { feed, view } = useLog(source, NO_FILTERS, null);
  if (view.status === "failed") return <ErrorCard error={view.error} onRetry={() => void feed.open(null)} />;
  if (view.status === "ready" && view.lines.length === 0) return <p>{emptyText}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={css["tail"]} aria-label={`Last ${lines} log lines`} tabIndex={0}>
      <ol>
        {view.lines.slice(-lines).map((line) => (
          <li key={line.id} data-level={line.level ?? "NONE"}>
            {line.level === "ERROR" || line.level === "CRITICAL" ? `${line.level} ` : ""}
            {parseAnsi(line.text).map((run) => run.text)}
          </li>
        ))}
      </ol>
    </section>
  );
}
