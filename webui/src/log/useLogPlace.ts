// Where a log view stands: how high it can be, and the line that its address names.

import { useCallback, useEffect, useLayoutEffect, useState } from "react";
import { lineInHash } from "./line";

const LEAST_PX = 420;
const MARGIN_PX = 32; // as the page leaves below its content

/** From where the view begins to the bottom of the window, so that the page itself does not scroll. */
export function useHeightToBottom(box: React.RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(LEAST_PX);
  useLayoutEffect(() => {
    const measure = (): void => {
      const top = (box.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
      setHeight(Math.max(LEAST_PX, window.innerHeight - top - MARGIN_PX));
    };
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, [box]);
  return height;
}

/** The line that the address names; a click on a line's number changes it without a step in the history. */
export function useLineAddress(): [number | null, (id: number | null) => void] {
  const [line, setLine] = useState(() => lineInHash(window.location.hash));
  useEffect(() => {
    const change = (): void => setLine(lineInHash(window.location.hash));
    window.addEventListener("hashchange", change);
    return () => window.removeEventListener("hashchange", change);
  }, []);
  const set = useCallback((id: number | null): void => {
    const { pathname, search } = window.location;
    window.history.replaceState(window.history.state, "", `${pathname}${search}${id === null ? "" : `#L${id}`}`);
    setLine(id);
  }, []);
  return [line, set];
}
