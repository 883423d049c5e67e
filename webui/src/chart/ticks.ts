// Pure axis ticks with their labels: round numbers, decades, clock times and durations.
import { dateTime, duration, metricNumber } from "../ui/format";
import type { Scale } from "./scale";
import type { XKind } from "./types";

export interface Tick {
  value: number;
  label: string;
}

/** At most about `count` ticks inside the scale, but at least two numbers: one alone does not say how long the axis is. */
export function ticksOf(scale: Scale, count: number, kind: XKind = "number"): Tick[] {
  if (scale.kind === "log") return logTicks(scale, count);
  if (kind === "number") return numberTicks(scale, count);
  return clockTicks(scale, count, kind);
}

/** One value written as the axis would, but with enough digits to stand alone. */
export function wordOf(value: number, kind: XKind): string {
  if (kind === "time") return dateTime(value * 1000);
  if (kind === "duration") return duration(value);
  return metricNumber(value);
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const CLOCK_SECONDS = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

const CLOCK_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600,
  2592000, 7776000, 31536000,
];

const MOST_FINER = 3; // enough for two ticks on every scale that has an extent

function numberTicks(scale: Scale, count: number): Tick[] {
  let step = roundStep((scale.hi - scale.lo) / Math.max(1, count));
  let values = multiples(scale, step);
  for (let finer = 0; values.length < 2 && finer < MOST_FINER; finer++) {
    step = roundStep(step / 2.5);
    values = multiples(scale, step);
  }
  return values.map((value) => ({ value, label: numberLabel(value, step) }));
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const fraction = rough / power;
  const round = fraction <= 1.0001 ? 1 : fraction <= 2.0001 ? 2 : fraction <= 5.0001 ? 5 : 10;
  return round * power;
}

function multiples(scale: Scale, step: number): number[] {
  const first = Math.ceil(scale.lo / step - 1e-9);
  const last = Math.floor(scale.hi / step + 1e-9);
  const values: number[] = [];
  for (let n = first; n <= last && values.length < 200; n++) values.push(n === 0 ? 0 : cleaned(n, step));
  return values;
}

/** 3 * 0.1 is 0.30000000000000004: a tick is written through its step's digits. */
function cleaned(n: number, step: number): number {
  const value = n * step;
  return Math.abs(step) < 1 ? Number(value.toPrecision(12)) : value;
}

function numberLabel(value: number, step: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 1e15 || (magnitude !== 0 && step < 1e-6)) return shortExponent(value.toExponential(2));
  if (magnitude >= 1e4) return thousands(value, step);
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  return value.toFixed(Math.min(digits, 12));
}

const UNITS: readonly (readonly [number, string])[] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

function thousands(value: number, step: number): string {
  const [size, letter] = UNITS.find(([unit]) => Math.abs(value) >= unit) ?? [1, ""];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  return digits > 3 ? value.toFixed(0) : `${Number((value / size).toFixed(digits))}${letter}`;
}

function logTicks(scale: Scale, count: number): Tick[] {
  const decades = Math.log10(scale.hi / scale.lo);
  const perDecade = count / decades;
  const factors = perDecade >= 3 ? [1, 2, 5] : perDecade >= 2 ? [1, 3] : [1];
  for (let stride = Math.max(1, Math.ceil(decades / Math.max(1, count))); stride >= 1; stride--) {
    const ticks = decadeTicks(scale, stride, factors);
    if (ticks.length >= 2) return ticks;
  }
  return numberTicks({ ...scale, kind: "linear" }, count).filter((tick) => tick.value > 0);
}

function decadeTicks(scale: Scale, stride: number, factors: readonly number[]): Tick[] {
  const first = Math.floor(Math.log10(scale.lo) / stride) * stride;
  const ticks: Tick[] = [];
  for (let power = first; power <= Math.log10(scale.hi) + 1e-6; power += stride) {
    for (const factor of factors) ticks.push(decadeTick(factor, power));
  }
  return ticks.filter((tick) => tick.value >= scale.lo * 0.999999 && tick.value <= scale.hi * 1.000001);
}

function decadeTick(factor: number, power: number): Tick {
  const value = Number(`${factor}e${power}`);
  const label = power < -3 || power > 4 ? shortExponent(value.toExponential(0)) : String(value);
  return { value, label };
}

function clockTicks(scale: Scale, count: number, kind: "time" | "duration"): Tick[] {
  const rough = (scale.hi - scale.lo) / Math.max(1, count);
  if (rough < 1 && kind === "duration") {
    return numberTicks(scale, count).map((tick) => ({ ...tick, label: `${tick.label}s` }));
  }
  const step = CLOCK_STEPS.find((candidate) => candidate >= rough) ?? roundStep(rough / 31536000) * 31536000;
  const offset = kind === "time" ? new Date(scale.lo * 1000).getTimezoneOffset() * 60 : 0;
  const local = { ...scale, lo: scale.lo - offset, hi: scale.hi - offset };
  const label = (value: number) => (kind === "time" ? timeLabel(value, step) : duration(value));
  return multiples(local, step).map((value) => ({ value: value + offset, label: label(value + offset) }));
}

function timeLabel(seconds: number, step: number): string {
  const date = new Date(seconds * 1000);
  if (step >= 86400) return DAY.format(date);
  return step >= 60 ? CLOCK.format(date) : CLOCK_SECONDS.format(date);
}

function shortExponent(text: string): string {
  return text.replace(/\.?0+e/, "e").replace("e+", "e");
}
