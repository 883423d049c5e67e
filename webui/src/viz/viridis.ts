// The viridis colour map: even to the eye, readable without colour vision and in grey. Pure.

type Rgb = readonly [number, number, number];

const ANCHORS: readonly Rgb[] = [
  [68, 1, 84],
  [72, 40, 120],
  [62, 73, 137],
  [49, 104, 142],
  [38, 130, 142],
  [31, 158, 137],
  [53, 183, 121],
  [110, 206, 88],
  [181, 222, 43],
  [253, 231, 37],
];

export function viridis(unit: number): string {
  return written(mixed(unit));
}

/** For lines and dots on the page's ground: without the end of the map that the ground would swallow. */
export function viridisOn(dark: boolean, unit: number): string {
  return viridis(dark ? 0.25 + 0.75 * unit : 0.85 * unit);
}

/** Black or white, whichever is read more easily on the colour. */
export function textOn(unit: number): string {
  return luminance(mixed(unit)) > 0.18 ? "#000000" : "#ffffff";
}

function mixed(unit: number): Rgb {
  const place = Math.min(1, Math.max(0, Number.isNaN(unit) ? 0 : unit)) * (ANCHORS.length - 1);
  const from = ANCHORS[Math.floor(place)] ?? [0, 0, 0];
  const to = ANCHORS[Math.ceil(place)] ?? from;
  const part = place - Math.floor(place);
  const mix = (i: 0 | 1 | 2) => Math.round(from[i] + (to[i] - from[i]) * part);
  return [mix(0), mix(1), mix(2)];
}

function written([red, green, blue]: Rgb): string {
  return `rgb(${red}, ${green}, ${blue})`;
}

function luminance(rgb: Rgb): number {
  const linear = (part: number) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
}
