// A terminal of a shell in the page, and what to say around it.
import { lazy, Suspense, useRef, useState } from "react";
import { useHeightToBottom } from "../log/useLogPlace";
import { Button } from "../ui/Button";
import { Skeleton } from "../ui/Skeleton";
import type { LinkState } from "./link";
import css from "./terminal.module.css";

const Xterm = lazy(() => import("./Xterm"));

export function TerminalView({ taskId, name }: { taskId: string; name: string }) {
  const [state, setState] = useState<LinkState>({ kind: "connecting" });
  const connect = useRef<() => void>(() => undefined);
  const box = useRef<HTMLDivElement>(null);
  const height = useHeightToBottom(box);
  const isOver = state.kind === "refused" || state.kind === "ended";
  return (
    <div className={css["view"]} ref={box} style={{ ["--terminal-height" as string]: `${height}px` }}>
      <Suspense fallback={<Skeleton rows={12} />}>
        <Xterm
          path={`/terminal/${encodeURIComponent(taskId)}`}
          label={`Terminal of ${name}`}
          onState={setState}
          onLink={(again) => {
            connect.current = again;
          }}
          onLeave={() => document.querySelector<HTMLElement>("main nav a[aria-current]")?.focus()}
        />
      </Suspense>
      <div className={css["status"]}>
        <span role="status">{wordsOf(state)}</span>
        {isOver && <Button onPress={() => connect.current()}>Connect again</Button>}
        <span className={css["hint"]}>F6 leaves the terminal; Ctrl Shift C copies.</span>
      </div>
    </div>
  );
}

function wordsOf(state: LinkState): string {
  switch (state.kind) {
    case "connecting":
      return "Connecting…";
    case "open":
      return "Connected.";
    case "lost":
      return "The connection broke; what runs in the terminal goes on. Connecting again…";
    case "waiting":
      return `Not yet: ${state.reason}. Trying again…`;
    case "refused":
      return `No connection: ${state.reason}`;
    case "ended":
      return `The shell ended with status ${state.status}.`;
  }
}
