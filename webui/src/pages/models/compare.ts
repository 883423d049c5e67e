// Versions of a model side by side: a row per metric with a value per version, those that differ first. Pure.
import { idRanges } from "../../url/codecs";

export interface Compared {
  version: number;
  validation: Readonly<Record<string, unknown>>;
  training: Readonly<Record<string, unknown>>;
}

export interface ComparedMetric {
  group: "validation" | "training";
  name: string;
  /** One per version, in their order; null where a version has none. */
  values: (number | null)[];
  differs: boolean;
}

/** `/models/7/compare?versions=1,3`: the choice is in the address. */
export function comparePath(modelId: number, versions: readonly number[]): string {
  return `/models/${modelId}/compare?versions=${idRanges.print([...versions])}`;
}

/** Validation before training; in each those that differ first, then by name. */
export function comparedMetrics(versions: readonly Compared[]): ComparedMetric[] {
  return (["validation", "training"] as const).flatMap((group) => {
    const names = [...new Set(versions.flatMap((one) => Object.keys(one[group])))].sort((a, b) => a.localeCompare(b));
    const rows = names
      .map((name) => rowOf(group, name, versions))
      .filter((row) => row.values.some((value) => value !== null));
    return [...rows.filter((row) => row.differs), ...rows.filter((row) => !row.differs)];
  });
}

/** The trials that made the checkpoints, each once, in the order of the versions. */
export function trialsOf(trialIds: readonly (number | null | undefined)[]): number[] {
  return [...new Set(trialIds.filter((id): id is number => typeof id === "number"))];
}

function rowOf(group: "validation" | "training", name: string, versions: readonly Compared[]): ComparedMetric {
  const values = versions.map((one) => numberOf(one[group][name]));
  return { group, name, values, differs: values.some((value) => !Object.is(value, values[0])) };
}

/** NaN and infinities travel as text. */
function numberOf(value: unknown): number | null {
  if (typeof value === "number") return value;
  return value === "NaN" || value === "Infinity" || value === "-Infinity" ? Number(value) : null;
}
