// The reader's theme, density and choice of shortcuts: the user's own, copied to this browser and applied as data attributes (theme.js does so before first paint).
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
export type Density = "compact" | "normal" | "comfortable";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];
export const DENSITIES: readonly Density[] = ["compact", "normal", "comfortable"];

/** What a user has chosen; what is absent is as usual. */
export interface Preferences {
  theme?: string;
  density?: string;
  keys?: string;
}

const USUAL = { theme: "system", density: "normal", keys: "on" } as const;
type Name = keyof typeof USUAL;

const listeners = new Set<() => void>();
const choiceListeners = new Set<(chosen: Preferences) => void>();

/** Hears of what a reader chooses, not of what is applied. */
export function onChoice(listener: (chosen: Preferences) => void): () => void {
  choiceListeners.add(listener);
  return () => choiceListeners.delete(listener);
}

/** As another browser of the same user has it. */
export function applyPreferences(chosen: Preferences): void {
  for (const name of Object.keys(USUAL) as Name[]) apply(name, chosen[name] ?? USUAL[name]);
}

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
  return [areOn, (next) => choose("keys", next ? "on" : "off")];
}

export function singleKeysAreOn(): boolean {
  return document.documentElement.dataset["keys"] !== "off";
}

export function currentTheme(): Theme {
  return THEMES.find((one) => one === document.documentElement.dataset["theme"]) ?? "system";
}

export function setTheme(next: Theme): void {
  choose("theme", next);
}

function currentDensity(): Density {
  return DENSITIES.find((one) => one === document.documentElement.dataset["density"]) ?? "normal";
}

function setDensity(next: Density): void {
  choose("density", next);
}

function choose(name: Name, value: string): void {
  apply(name, value);
  const { theme, density, keys } = document.documentElement.dataset;
  const chosen = { ...(theme && { theme }), ...(density && { density }), ...(keys && { keys }) };
  for (const listener of choiceListeners) listener(chosen);
}

function apply(name: Name, value: string): void {
  if (value === USUAL[name]) delete document.documentElement.dataset[name];
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
