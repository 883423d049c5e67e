// The surface of a picture: pointer and keyboard find a mark, a click or Enter picks it.
import type { PointerEvent, ReactNode, RefObject } from "react";
import type { Walker } from "./useWalker";
import styles from "./viz.module.css";

interface WalkAreaProps {
  box: RefObject<HTMLDivElement | null>;
  label: string;
  walker: Walker;
  height: number;
  minWidth?: number;
  /** Whether a click now would pick something. */
  canPick: boolean;
  /** The pointer in pixels of the area, null when it left. */
  onPoint: (at: { x: number; y: number } | null) => void;
  onPick: () => void;
  children: ReactNode;
}

export function WalkArea({
  box,
  label,
  walker,
  height,
  minWidth = 0,
  canPick,
  onPoint,
  onPick,
  children,
}: WalkAreaProps) {
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    const frame = event.currentTarget.getBoundingClientRect();
    onPoint({ x: event.clientX - frame.left, y: event.clientY - frame.top });
  };
  return (
    <div className={styles.scroll}>
      <div
        ref={box}
        className={styles.plot}
        style={{ height, minWidth, cursor: canPick ? "pointer" : "default" }}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={walker.count}
        aria-valuenow={walker.position}
        aria-valuetext={walker.words}
        onKeyDown={walker.onKeyDown}
        onBlur={walker.onBlur}
        onPointerMove={onPointerMove}
        onPointerLeave={() => onPoint(null)}
        onClick={onPick}
      >
        {children}
      </div>
    </div>
  );
}
