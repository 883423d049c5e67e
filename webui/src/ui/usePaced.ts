// Something that may be asked for many times a second and is done once in a while.
import { useCallback, useEffect, useRef } from "react";

/** Asking starts a wait of `ms`, at whose end `run` is called once; asking meanwhile changes nothing. */
export function usePaced(run: () => void, ms: number): () => void {
  const newest = useRef(run);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    newest.current = run;
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      newest.current();
    }, ms);
  }, [ms]);
}
