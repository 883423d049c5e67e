// A table that is opened without a look gets the user's last one, and each look becomes the last.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef } from "react";
import { navigate, useLocation, useSearch } from "../../url";
import { isAt, lastLook, saveLook, withoutSelection } from "./lastLook";

const SAVE_MS = 1500;

interface Opened {
  place: string;
  /** Counts openings: what was read for an earlier one is old. */
  number: number;
  isReady: boolean;
  /** What the settings hold as far as is known here. */
  stored: string | null;
}

const NEVER: Opened = { place: "", number: 0, isReady: false, stored: null };

/**
 * Restores the last look of a table that is opened without one, and remembers each whose query can be read. False until
 * that is known.
 */
export function useRemembered(place: string, isReadable: boolean): boolean {
  const search = useSearch();
  const [path] = useLocation();
  // until the code of the next page has come, this one is hidden and hears of that page's address
  const isHere = isAt(path, place);
  const opened = useRef(NEVER);
  if (isHere && opened.current.place !== place) {
    opened.current = { place, number: opened.current.number + 1, isReady: search !== "", stored: null };
  }
  const { data: last, isSuccess } = useQuery({
    queryKey: ["last look", place, opened.current.number],
    queryFn: () => lastLook(place),
    enabled: isHere && !opened.current.isReady,
    gcTime: 0,
  });
  const isKnown = opened.current.isReady || isSuccess;
  useEffect(() => {
    if (last === undefined || !isHere || opened.current.isReady) return;
    opened.current = { ...opened.current, isReady: true, stored: last };
    if (last !== "" && window.location.search === "") navigate(`${path}?${last}`, { replace: true });
  }, [last, isHere, path]);
  useSaving(opened, place, withoutSelection(search), isHere && isKnown && isReadable);
  // of a page that is hidden only effects on its layout are undone; when it is shown again it is opened again
  useLayoutEffect(() => {
    return () => {
      opened.current = { ...NEVER, number: opened.current.number };
    };
  }, []);
  return isKnown;
}

/** Once the look has stayed for a moment, or is left. */
function useSaving(opened: { current: Opened }, place: string, look: string, isWorthIt: boolean): void {
  const due = useRef<{ place: string; look: string } | null>(null);
  const save = useRef(() => {
    if (due.current === null) return;
    const { place, look } = due.current;
    due.current = null;
    if (opened.current.place === place) opened.current.stored = look;
    saveLook(place, look);
  });
  useEffect(() => {
    if (due.current?.place !== place || !isWorthIt) save.current();
    due.current = null;
    if (!opened.current.isReady || !isWorthIt || look === opened.current.stored) return undefined;
    due.current = { place, look };
    const timer = setTimeout(save.current, SAVE_MS);
    return () => clearTimeout(timer);
  }, [opened, place, look, isWorthIt]);
  useLayoutEffect(() => save.current, []);
}
