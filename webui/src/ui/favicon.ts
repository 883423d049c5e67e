// The tab's icon with a dot for the state of what the page shows. A data: URL, which the CSP allows for images.
import type { StateKind } from "./state";

// an icon cannot read custom properties; these are the light theme's tokens on a white ring
const DOTS: Record<StateKind, string> = {
  running: "#1f5fd0",
  done: "#137a3f",
  error: "#c02a2a",
  paused: "#8a5a00",
  queued: "#6a4bb5",
  stopped: "#5b6270",
};

export function setFavicon(kind: StateKind | null): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (!link) return;
  link.href = kind ? `data:image/svg+xml,${encodeURIComponent(drawn(DOTS[kind]))}` : "/det/favicon.svg";
}

function drawn(dot: string): string {
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3d4fd6"/>' +
    '<path d="M6 23c5 0 6-14 11-14 3.6 0 4 7 9 7" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/>' +
    `<circle cx="25" cy="25" r="6.5" fill="${dot}" stroke="#fff" stroke-width="2"/></svg>`
  );
}
