// The theme's colours as xterm.js takes them. The sixteen of terminals are those that the log view shows them in.
import type { ITheme } from "@xterm/xterm";

const TOKENS: Record<keyof Omit<ITheme, "extendedAnsi">, string> = {
  background: "--surface",
  foreground: "--text",
  cursor: "--accent",
  cursorAccent: "--surface",
  selectionBackground: "--selected",
  selectionForeground: "--text",
  selectionInactiveBackground: "--selected",
  scrollbarSliderBackground: "--hairline",
  scrollbarSliderHoverBackground: "--border",
  scrollbarSliderActiveBackground: "--border",
  overviewRulerBorder: "--surface",
  black: "--text",
  red: "--error",
  green: "--done",
  yellow: "--paused",
  blue: "--running",
  magenta: "--queued",
  cyan: "--accent",
  white: "--text",
  brightBlack: "--muted",
  brightRed: "--error",
  brightGreen: "--done",
  brightYellow: "--paused",
  brightBlue: "--running",
  brightMagenta: "--queued",
  brightCyan: "--accent",
  brightWhite: "--text",
};

/** Custom properties come back unresolved (`light-dark(…)`), so colours are read through an element that wears them. */
export function terminalTheme(): ITheme {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.documentElement.append(probe);
  const read = (token: string): string => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const theme = Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [name, read(token)]));
  probe.remove();
  return theme as ITheme;
}
