// The reader's theme, density and choice of shortcuts: kept in this browser, applied as data attributes (theme.js does so before first paint).
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
export type Density = "compact" | "normal" | "comfortable";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];
export const DENSITIES: readonly Density[] = ["compact", "normal", "comfortable"];

const listeners = new Set<() => void>();

export function useTheme(): [Theme, (next: Theme) => void] {
  const theme = useSyncExternalStore(subscribe, currentTheme);
  return [theme, setTheme];
}

export function useDensity(): [Density, (next: Density) => void] {
  const density = useSyncExternalStore(subscribe, currentDensity);
  return [density, setDensity];
}

/** Whether single keys are shortcuts. Who speaks to the computer, or types by mistake, turns them off. */
export function useSingleKeys(): [boolean, (next: boolean) => void] {
  const areOn = useSyncExternalStore(subscribe, singleKeysAreOn);
  return [areOn, (next) => apply("keys", next ? "on" : "off", "on")];
}

export function singleKeysAreOn(): boolean {
  return document.documentElement.dataset["keys"] !== "off";
}

export function currentTheme(): Theme {
  return THEMES.find((one) => one === document.documentElement.dataset["theme"]) ?? "system";
}

export function setTheme(next: Theme): void {
  apply("theme", next, "system");
}

function currentDensity(): Density {
  return DENSITIES.find((one) => one === document.documentElement.dataset["density"]) ?? "normal";
}

function setDensity(next: Density): void {
  apply("density", next, "normal");
}

function apply(name: "theme" | "density" | "keys", value: string, absent: string): void {
  if (value === absent) delete document.documentElement.dataset[name];
  else document.documentElement.dataset[name] = value;
  remember(`det.${name}`, value);
  for (const listener of listeners) listener();
}

function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // a browser that keeps nothing still shows the choice until the tab closes
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
