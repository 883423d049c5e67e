// Pure scales: a value to its place between 0 and 1 along an axis and back, linear or logarithmic.

export interface Scale {
  kind: "linear" | "log";
  lo: number;
  hi: number;
}

/** A drawable scale around an extent: padded, never empty, positive when logarithmic. */
export function scaleOf(kind: "linear" | "log", lo: number, hi: number, pad = 0): Scale {
  if (kind === "log") return padded(logExtent(lo, hi), pad);
  return padded(linearExtent(lo, hi), pad);
}

export function toUnit(scale: Scale, value: number): number {
  if (scale.kind === "linear") return (value - scale.lo) / (scale.hi - scale.lo);
  if (value <= 0) return Number.NaN;
  const lo = Math.log10(scale.lo);
  return (Math.log10(value) - lo) / (Math.log10(scale.hi) - lo);
}

export function toValue(scale: Scale, unit: number): number {
  if (scale.kind === "linear") return scale.lo + unit * (scale.hi - scale.lo);
  const lo = Math.log10(scale.lo);
  return 10 ** (lo + unit * (Math.log10(scale.hi) - lo));
}

function linearExtent(lo: number, hi: number): Scale {
  if (!Number.isFinite(lo) || !Number.isFinite(hi)) return { kind: "linear", lo: 0, hi: 1 };
  if (hi > lo) return { kind: "linear", lo, hi };
  const room = Math.abs(lo) * 0.05 || 1;
  return { kind: "linear", lo: lo - room, hi: lo + room };
}

function logExtent(lo: number, hi: number): Scale {
  if (!(lo > 0) || !Number.isFinite(hi)) return { kind: "log", lo: 0.1, hi: 1 };
  if (hi > lo) return { kind: "log", lo, hi };
  return { kind: "log", lo: lo / 2, hi: lo * 2 };
}

function padded(scale: Scale, pad: number): Scale {
  if (pad === 0) return scale;
  return { kind: scale.kind, lo: toValue(scale, -pad), hi: toValue(scale, 1 + pad) };
}
