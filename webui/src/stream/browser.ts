// The real surroundings of a connection: a WebSocket to our own origin, timers, chance.
import type { SocketLike, Surroundings } from "./connection";

export const browser: Surroundings = {
  open: () => new WebSocket(address(globalThis.location)) as SocketLike,
  later,
  random: Math.random,
};

export function later(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

export function address(here: { protocol: string; host: string }): string {
  return `${here.protocol === "https:" ? "wss:" : "ws:"}//${here.host}/stream`;
}
