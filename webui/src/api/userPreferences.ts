// Theme and density belong to the user: read when somebody signs in, stored with each choice; the browser keeps a copy for
// the first paint.
import { useEffect } from "react";
import { applyPreferences, onChoice, type Preferences } from "../theme/preferences";
import { call } from "./client";
import { useApi } from "./useApi";

const PATH = "appearance";
const KEY = "preferences";

/** While somebody is signed in. */
export function useUserPreferences(): void {
  const stored = useApi("getUserSettings", undefined, { staleTime: Number.POSITIVE_INFINITY });
  const text = stored.data?.settings.find((one) => one.storagePath === PATH && one.key === KEY)?.value;
  useEffect(() => {
    if (stored.data !== undefined) applyPreferences(parsed(text));
  }, [stored.data, text]);
  useEffect(() => onChoice(save), []);
}

function save(chosen: Preferences): void {
  const setting = { key: KEY, storagePath: PATH, value: JSON.stringify(chosen) };
  // the choice holds in this browser; one that could not be stored is no reason to disturb anybody
  call("putUserSettings", { body: { settings: [setting] } }).catch(() => undefined);
}

function parsed(text: string | null | undefined): Preferences {
  try {
    const found: unknown = JSON.parse(text ?? "{}");
    return typeof found === "object" && found !== null ? (found as Preferences) : {};
  } catch {
    return {};
  }
}
