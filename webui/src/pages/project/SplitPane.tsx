// Two panes side by side with a separator that pointer and arrow keys move; one above the other when narrow.
// biome-ignore-all lint/a11y/useSemanticElements: a rule cannot be moved
import { type ReactNode, useRef, useState } from "react";
import { useMedia } from "../../grid/useMedia";
import css from "./project.module.css";

const LEAST = 20;
const MOST = 80;
const STEP = 5;

export function SplitPane({ first, second }: { first: ReactNode; second: ReactNode }) {
  const [percent, setPercent] = useState(58);
  const isWide = useMedia("(min-width: 1200px)");
  const box = useRef<HTMLDivElement>(null);
  const set = (next: number) => setPercent(Math.round(Math.min(MOST, Math.max(LEAST, next))));
  const onPointerDown = (event: React.PointerEvent) => {
    event.preventDefault();
    const stop = new AbortController();
    const bounds = box.current?.getBoundingClientRect();
    const onMove = (move: PointerEvent) => bounds && set(((move.clientX - bounds.left) / bounds.width) * 100);
    window.addEventListener("pointermove", onMove, { signal: stop.signal });
    for (const end of ["pointerup", "pointercancel"])
      window.addEventListener(end, () => stop.abort(), { signal: stop.signal });
  };
  if (!isWide) {
    return (
      <div className={css["stacked"]}>
        {first}
        {second}
      </div>
    );
  }
  return (
    <div
      ref={box}
      className={css["split"]}
      style={{ gridTemplateColumns: `minmax(0, ${percent}fr) 12px minmax(0, ${100 - percent}fr)` }}
    >
      <div className={css["pane"]}>{first}</div>
      <div
        role="separator"
        tabIndex={0}
        aria-orientation="vertical"
        aria-label="Width of the table"
        aria-valuenow={percent}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        className={css["separator"]}
        onPointerDown={onPointerDown}
        onKeyDown={(event) => {
          if (event.key === "ArrowLeft") set(percent - STEP);
          if (event.key === "ArrowRight") set(percent + STEP);
        }}
      />
      <div className={css["pane"]}>{second}</div>
    </div>
  );
}
