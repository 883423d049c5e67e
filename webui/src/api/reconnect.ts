// Notices a lost master or network at once, and brings a page back to life as soon as it answers again.
import { onStreamStatus, retryStream, streamStatus } from "../stream";
import { call } from "./client";
import { currentReach, onReach, unreachable } from "./connection";
import { queryClient } from "./useApi";

/** Call once; answers a function that stops it. Without a session there is nothing to ask for. */
export function watchConnection(hasSession: () => boolean): () => void {
  let before = currentReach();
  const probe = () => {
    // the answer itself is of no interest: the client tells whether there was one, and whether the session is over
    if (hasSession()) call("getMe").catch(() => undefined);
  };
  const stops = [
    onReach(() => {
      const now = currentReach();
      if (now === "ok" && before !== "ok") revive();
      before = now;
    }),
    // a stream that breaks says that the master is gone, or that the session is: asking tells which
    onStreamStatus(() => {
      if (streamStatus() === "live" ? currentReach() !== "ok" : currentReach() === "ok") probe();
    }),
    listen("offline", unreachable),
    listen("online", probe),
    listen("pageshow", (event) => (event as PageTransitionEvent).persisted && probe()),
  ];
  if (navigator.onLine === false) unreachable();
  return () => {
    for (const stop of stops) stop();
  };
}

function revive(): void {
  retryStream();
  void queryClient.invalidateQueries({
    predicate: (query) => query.state.status === "error" || query.state.fetchFailureCount > 0,
  });
}

function listen(name: string, handler: (event: Event) => void): () => void {
  addEventListener(name, handler);
  return () => removeEventListener(name, handler);
}
