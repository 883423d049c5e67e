// Whether a media query holds, and the height of rows that the theme's density asks for.
import { useCallback, useSyncExternalStore } from "react";

export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (changed: () => void) => {
      const list = window.matchMedia(query);
      list.addEventListener("change", changed);
      return () => list.removeEventListener("change", changed);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}

/** `--row` of the theme in pixels, which changes with `data-density` of the document. */
export function useRowHeight(): number {
  return useSyncExternalStore(watchDensity, rowHeight);
}

function watchDensity(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-density"] });
  return () => observer.disconnect();
}

function rowHeight(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 32;
}
