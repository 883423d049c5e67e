// The theme's colours as a canvas needs them: resolved, watched for a change of theme or forced colours.
import { useSyncExternalStore } from "react";
import { HUES } from "./colour";

export interface Ink {
  text: string;
  muted: string;
  grid: string;
  surface: string;
  font: string;
  /** True on a dark ground. */
  dark: boolean;
  /** Resolves a CSS colour such as `var(--series-3)`; others come back as they are. */
  resolve(colour: string): string;
}

/** Re-renders when the theme changes. */
export function useInk(): Ink {
  return useSyncExternalStore(watch, current);
}

let ink: Ink | null = null;
const listeners = new Set<() => void>();
let stop: (() => void) | null = null;

function current(): Ink {
  ink ??= readInk(document.documentElement);
  return ink;
}

function watch(listener: () => void): () => void {
  listeners.add(listener);
  stop ??= watchTheme(changed);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    stop?.();
    stop = null;
    ink = null;
  };
}

function changed(): void {
  ink = null;
  for (const listener of listeners) listener();
}

function watchTheme(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "style", "data-theme"] });
  const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) => window.matchMedia(query));
  for (const query of queries) query.addEventListener("change", onChange);
  return () => {
    observer.disconnect();
    for (const query of queries) query.removeEventListener("change", onChange);
  };
}

/**
 * Custom properties come back unresolved (`light-dark(…)`), so colours are read through an element that wears them.
 * Forced colours name ground and text; the series keep their hues, or lines could not be told apart.
 */
function readInk(root: HTMLElement): Ink {
  const probe = document.createElement("span");
  probe.hidden = true;
  root.append(probe);
  const read = (colour: string) => {
    probe.style.color = colour;
    return getComputedStyle(probe).color;
  };
  const forced = window.matchMedia("(forced-colors: active)").matches;
  const text = forced ? getComputedStyle(root).color : read("var(--text)");
  const dark = !isDark(text);
  probe.style.setProperty("forced-color-adjust", "none");
  const known = new Map<string, string>();
  for (let n = 0; n < HUES; n++) known.set(`var(--series-${n})`, read(`var(--series-${n})`));
  const ink: Ink = {
    text,
    muted: forced ? text : read("var(--muted)"),
    grid: forced ? read(`color-mix(in srgb, ${text} 25%, transparent)`) : read("var(--hairline)"),
    surface: read(forced ? "Canvas" : "var(--bg)"),
    font: getComputedStyle(root).fontFamily || "system-ui",
    dark,
    resolve: (colour) => known.get(colour) ?? colour,
  };
  probe.remove();
  return ink;
}

function isDark(colour: string): boolean {
  const [red = 255, green = 255, blue = 255] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return red * 0.3 + green * 0.59 + blue * 0.11 < 128;
}
