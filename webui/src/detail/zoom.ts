// The zoom of charts as an address holds it: `100..250`.

import type { Range } from "../chart/types";

export function parseZoom(zoom: string): Range | null {
  const [from, to] = zoom.split("..").map(Number);
  if (zoom === "" || from === undefined || to === undefined || !(to > from)) return null;
  return [from, to];
}

export function printZoom(zoom: Range | null): string {
  return zoom === null ? "" : `${Number(zoom[0].toPrecision(12))}..${Number(zoom[1].toPrecision(12))}`;
}
