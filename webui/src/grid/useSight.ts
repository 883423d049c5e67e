// What of a scrolling element is in sight, told in steps so that scrolling within a row renders nothing.
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

export interface Sight {
  top: number;
  left: number;
  width: number;
  height: number;
  /** While scrolling, rows are in the order of their elements; at rest, in their own. */
  isMoving: boolean;
}

const STEP_X = 120;
const REST_MS = 150;

export function useSight(scroller: RefObject<HTMLElement | null>, stepY: number): Sight {
  const [sight, setSight] = useState<Sight>({ top: 0, left: 0, width: 0, height: 0, isMoving: false });
  const rest = useRef<ReturnType<typeof setTimeout> | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const measure = (isMoving: boolean) => setSight((old) => changed(old, sightOf(element, stepY, isMoving)));
    const onScroll = () => {
      measure(true);
      if (rest.current !== null) clearTimeout(rest.current);
      rest.current = setTimeout(() => keepingFocus(element, () => flushSync(() => measure(false))), REST_MS);
    };
    const observer = new ResizeObserver(() => measure(false));
    observer.observe(element);
    element.addEventListener("scroll", onScroll, { passive: true });
    measure(false);
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, [scroller, stepY]);
  useEffect(() => () => void (rest.current !== null && clearTimeout(rest.current)), []);
  return sight;
}

function sightOf(element: HTMLElement, stepY: number, isMoving: boolean): Sight {
  return {
    top: Math.floor(element.scrollTop / stepY) * stepY,
    left: Math.floor(element.scrollLeft / STEP_X) * STEP_X,
    width: element.clientWidth,
    height: element.clientHeight,
    isMoving,
  };
}

function changed(old: Sight, next: Sight): Sight {
  const isSame = (Object.keys(next) as (keyof Sight)[]).every((key) => old[key] === next[key]);
  return isSame ? old : next;
}

/** Moving an element within its parent takes the focus from it. */
function keepingFocus(element: HTMLElement, reorder: () => void): void {
  const focused = document.activeElement;
  reorder();
  if (focused instanceof HTMLElement && element.contains(focused) && document.activeElement !== focused) {
    focused.focus({ preventScroll: true });
  }
}
