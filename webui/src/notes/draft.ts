// What somebody has written and not saved: kept in this browser for each user, so that a reload loses nothing.
import { useCallback, useState } from "react";
import { useSession } from "../api/session";

export interface Draft {
  text: string;
  /** The text it began with: what was saved meanwhile by others shows by it. */
  base: string;
  title?: string;
}

const PREFIX = "determined-draft";

/** The draft of one thing and how to change it; null when nothing is being written. */
export function useDraft(what: string): [Draft | null, (draft: Draft | null) => void] {
  const { user } = useSession();
  const key = `${PREFIX}:${user.id ?? 0}:${what}`;
  const [shown, setShown] = useState(() => ({ key, draft: loaded(localStorage, key) }));
  const draft = shown.key === key ? shown.draft : loaded(localStorage, key);
  const set = useCallback(
    (next: Draft | null) => {
      stored(localStorage, key, next);
      setShown({ key, draft: next });
    },
    [key],
  );
  return [draft, set];
}

export function loaded(storage: Pick<Storage, "getItem">, key: string): Draft | null {
  try {
    const found = JSON.parse(storage.getItem(key) ?? "null") as Partial<Draft> | null;
    return typeof found?.text === "string" && typeof found.base === "string" ? (found as Draft) : null;
  } catch {
    return null; // another version of the page has written it
  }
}

export function stored(storage: Pick<Storage, "setItem" | "removeItem">, key: string, draft: Draft | null): void {
  try {
    if (draft === null) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(draft));
  } catch {
    // a full storage keeps no draft; the text on the page is still there
  }
}
