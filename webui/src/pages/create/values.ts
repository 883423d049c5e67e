// Plain nested data of a configuration: read, set and compare by path.
import { isRecord } from "../../detail/plain";

export type Path = readonly string[];
export type Plain = Record<string, unknown>;

/** One change: undefined takes the key out. */
export interface Edit {
  path: Path;
  value: unknown;
}

export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), root);
}

/** A copy with the value there; what lies between is made where it is missing. Keys keep their order. */
export function withValue(root: Plain, path: Path, value: unknown): Plain {
  const [key, ...rest] = path;
  if (key === undefined) return isRecord(value) ? value : root;
  if (rest.length === 0 && value === undefined) {
    return Object.fromEntries(Object.entries(root).filter(([name]) => name !== key));
  }
  const inner = root[key];
  if (rest.length > 0 && value === undefined && !isRecord(inner)) return root;
  return { ...root, [key]: rest.length === 0 ? value : withValue(isRecord(inner) ? inner : {}, rest, value) };
}

export function withEdits(root: Plain, edits: readonly Edit[]): Plain {
  return edits.reduce((value, edit) => withValue(value, edit.path, edit.value), root);
}

/** Equal in content; the order of keys is no matter. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, index) => isSame(one, b[index]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && isSame(a[key], b[key]));
}

/**
 * What has to be laid over `before` to get `after`, and which paths of it are gone. A hyperparameter and a
 * length are one value. */
export function overrideOf(before: Plain, after: Plain): { override: Plain; gone: string[] } {
  const override: Plain = {};
  const gone = Object.keys(before).filter((key) => !(key in after));
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    if (isSame(old, value)) continue;
    if (!isRecord(old) || !isRecord(value) || "type" in value || key === "max_length") {
      override[key] = value;
      continue;
    }
    const inner = overrideOf(old, value);
    if (Object.keys(inner.override).length > 0) override[key] = inner.override;
    gone.push(...inner.gone.map((name) => `${key}.${name}`));
  }
  return { override, gone };
}

/** The edits that bring plain submitted values to what the experiment has now (it was continued with other ones). */
export function refreshEdits(submitted: Plain, effective: Plain, prefix: Path = []): Edit[] {
  return Object.entries(submitted).flatMap(([key, value]): Edit[] => {
    const now = effective[key];
    const path = [...prefix, key];
    if (isRecord(value) && isRecord(now)) return refreshEdits(value, now, path);
    const isPlain = typeof value === typeof now && ["string", "number", "boolean"].includes(typeof now);
    return isPlain && now !== value ? [{ path, value: now }] : [];
  });
}
