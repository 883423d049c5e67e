// Numbers, times and sizes as people read them. Everything takes `now` or plain numbers, so it is testable.
type Time = string | number | Date | null | undefined;

const STEPS: [number, Intl.RelativeTimeFormatUnit][] = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [7, "day"],
  [4.345, "week"],
  [12, "month"],
  [Number.POSITIVE_INFINITY, "year"],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const counts = new Intl.NumberFormat("en");
const shortCounts = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const dates = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** "3 min. ago"; an empty text for no time. */
export function ago(time: Time, now: number = Date.now()): string {
  const at = millis(time);
  if (at === null) return "";
  let amount = (at - now) / 1000;
  if (Math.abs(amount) < 5) return "just now";
  for (const [size, unit] of STEPS) {
    if (Math.abs(amount) < size) return relative.format(Math.round(amount), unit);
    amount /= size;
  }
  return "";
}

/** Seconds as "1d 4h", "2h 5m", "3m 20s", "12s", "0.4s". */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "";
  if (seconds < 0) return `-${duration(-seconds)}`;
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  const parts: [number, string][] = [
    [Math.floor(whole / 86400), "d"],
    [Math.floor(whole / 3600) % 24, "h"],
    [Math.floor(whole / 60) % 60, "m"],
    [whole % 60, "s"],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first === -1) return "0s";
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount}${unit}`)
    .join(" ");
}

/** Seconds between two times; an open end is `now`. */
export function secondsBetween(start: Time, end: Time, now: number = Date.now()): number | null {
  const from = millis(start);
  return from === null ? null : ((millis(end) ?? now) - from) / 1000;
}

/** "12,345", or "1.2M" when short. */
export function count(value: number | null | undefined, short = false): string {
  if (value === null || value === undefined) return "";
  return (short ? shortCounts : counts).format(value);
}

/** "1 trial", "2 trials". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Bytes in binary units: "1.5 GiB". */
export function bytes(value: number | string | null | undefined): string {
  if (value === null || value === undefined || value === "") return "";
  let amount = Number(value);
  if (!Number.isFinite(amount)) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (Math.abs(amount) >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? amount : Number(amount.toPrecision(3))} ${units[unit]}`;
}

/** Six significant digits, never rounded to look exact: "0.123457", "1.5e-7", "NaN". */
export function metricNumber(value: number | string | null | undefined): string {
  if (value === null || value === undefined || value === "") return "";
  const number = Number(value);
  if (Number.isNaN(number)) return typeof value === "string" && value !== "NaN" ? value : "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "Infinity" : "-Infinity";
  if (number === 0) return "0";
  if (Number.isInteger(number) && Math.abs(number) < 1e12) return String(number);
  const size = Math.abs(number);
  if (size >= 1e-4 && size < 1e9) return String(Number(number.toPrecision(6)));
  const [digits = "", exponent = ""] = number.toExponential(5).split("e");
  return `${digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits}e${exponent.replace("+", "")}`;
}

/** "+0.25 (+50 %)": how far a value is from a base, "±0" where it is the same. */
export function deltaText(value: number, base: number): string {
  const difference = value - base;
  if (Number.isNaN(difference)) return "";
  if (difference === 0) return "±0";
  const sign = difference > 0 ? "+" : "−";
  const size = metricNumber(Math.abs(difference));
  if (base === 0 || !Number.isFinite(difference)) return sign + size;
  const percent = Number(((Math.abs(difference) / Math.abs(base)) * 100).toPrecision(3));
  return `${sign}${size} (${sign}${percent} %)`;
}

/** "15 Nov 2026, 17:07:32", in the reader's time zone. */
export function dateTime(time: Time): string {
  const at = millis(time);
  return at === null ? "" : dates.format(at);
}

/** JSON to read: what would turn the direction of writing, or act on a terminal, is spelled out. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? "";
  return text.replace(TURNING, (one) => `\\u${one.charCodeAt(0).toString(16)}`);
}

/** A text with names in it, such as the title of the tab: without what turns the direction of writing. */
export function straight(words: string): string {
  return words.replace(TURNING, "");
}

const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

function millis(time: Time): number | null {
  if (time === null || time === undefined || time === "") return null;
  const at = time instanceof Date ? time.getTime() : typeof time === "number" ? time : Date.parse(time);
  return Number.isNaN(at) ? null : at;
}
