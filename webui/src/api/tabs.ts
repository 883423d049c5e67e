// What tabs of one browser tell one another about the session they share.

const CHANNEL = "determined-session";

export type SessionWord = "signed-in" | "signed-out";

/** One channel per tab: a channel does not hear itself, another one of the same tab would. */
let channel: BroadcastChannel | null = null;
const listeners = new Set<(word: SessionWord) => void>();

export function tellTabs(word: SessionWord): void {
  opened()?.postMessage(word);
}

export function onTabs(listener: (word: SessionWord) => void): () => void {
  opened();
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function opened(): BroadcastChannel | null {
  if (channel || typeof BroadcastChannel === "undefined") return channel;
  channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    for (const listener of [...listeners]) listener(data as SessionWord);
  };
  return channel;
}
