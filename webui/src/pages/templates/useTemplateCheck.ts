// What the master says of the text, asked a moment after the last keystroke. The page reads no YAML.
import { useEffect, useMemo, useState } from "react";
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { markersOf } from "../../detail/problems";
import type { LineMarker } from "../../ui/CodeEditor";

export interface TemplateCheck {
  answer: Schemas["CheckTemplateResponse"] | undefined;
  markers: LineMarker[];
  isChecking: boolean;
  /** Why the check itself failed. */
  error: unknown;
  /** What would be saved; null while the text cannot be read or is being read. */
  config: Record<string, unknown> | null;
}

const PAUSE_MS = 350;

export function useTemplateCheck(text: string): TemplateCheck {
  const asked = useSettled(text);
  const found = useApi("checkTemplate", { body: { config: asked } }, { keepPrevious: true, staleTime: 10_000 });
  const isChecking = asked !== text || found.isFetching;
  const answer = found.error ? undefined : found.data;
  const markers = useMemo(() => markersOf(answer?.problems ?? []), [answer]);
  return { answer, markers, isChecking, error: found.error, config: isChecking ? null : (answer?.config ?? null) };
}

/** The value when it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
