// Commands that pages offer to the palette while they are mounted.
import { useEffect, useSyncExternalStore } from "react";

export interface Command {
  id: string;
  label: string;
  run: () => void;
  keywords?: string | undefined;
  /** Where it leads or what it belongs to, in muted letters. */
  detail?: string | undefined;
}

type Registered = readonly (readonly Command[])[];

let registered: Registered = [];
const listeners = new Set<() => void>();

/** Offers commands for as long as the component is mounted. */
export function useCommands(commands: readonly Command[]): void {
  useEffect(() => {
    publish([...registered, commands]);
    return () => publish(registered.filter((one) => one !== commands));
  }, [commands]);
}

export function useRegisteredCommands(): Registered {
  return useSyncExternalStore(subscribe, () => registered);
}

function publish(next: Registered): void {
  registered = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
