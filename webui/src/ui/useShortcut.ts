// Keyboard shortcuts of pages: registered while mounted, listed by `?`, silent while someone types in a field.
import { useEffect, useRef } from "react";
import { addShortcut } from "./shortcuts";

/** `keys` is one key (`"."`), a chord (`"mod+k"`) or a sequence (`"g h"`). */
export function useShortcut(keys: string, label: string, action: () => void, isEnabled = true): void {
  const latest = useRef(action);
  latest.current = action;
  useEffect(() => {
    if (!isEnabled) return undefined;
    return addShortcut({ keys, label, action: () => latest.current() });
  }, [keys, label, isEnabled]);
}
