// A sign-in in one tab signs in the others: they hear of it and go on, without asking the master all the time.
import { useCallback, useEffect, useRef } from "react";

const CHANNEL = "determined-session";

/** Calls `onSignIn` when another tab signs in; the answered function tells the others of a sign-in here. */
export function useSignInElsewhere(onSignIn: () => void): () => void {
  const latest = useRef(onSignIn);
  // one channel for hearing and telling: a channel does not hear itself, another one of the same tab would
  const channel = useRef<BroadcastChannel | null>(null);
  useEffect(() => {
    latest.current = onSignIn;
  });
  useEffect(() => {
    if (typeof BroadcastChannel === "undefined") return undefined;
    const opened = new BroadcastChannel(CHANNEL);
    opened.onmessage = () => latest.current();
    channel.current = opened;
    return () => opened.close();
  }, []);
  return useCallback(() => channel.current?.postMessage("signed-in"), []);
}
