// The worker that all tabs of a browser share: one connection to the master, however many tabs are open.
import { browser } from "./browser";
import { Hub } from "./hub";
import { type PortLike, serve } from "./port";

interface SharedScope {
  onconnect: ((event: MessageEvent) => void) | null;
}

const hub = new Hub(browser);

(globalThis as unknown as SharedScope).onconnect = (event) => {
  const port = event.ports[0];
  if (port) serve(port as PortLike, hub, whenGone);
};

/** A tab holds its lock for as long as it lives, also when it crashes: getting it means that the tab is gone. */
function whenGone(lock: string, then: () => void): void {
  void navigator.locks?.request(lock, then);
}
