// Where the rows of a log stand: heights from the number of columns, offsets, and the rows a viewport shows.

export const LINE_PX = 20;
export const ROW_PADDING_PX = 4;

const ASCII = /^[ -~]*$/;
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const ZERO = /\p{Mn}|\p{Me}|\p{Cf}/u;

/** How many columns of a fixed-width font the text takes. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += ZERO.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return columns;
}

/** Height of a row; `columns` is what fits in a line, null when lines are not wrapped. */
export function rowHeight(text: string, columns: number | null): number {
  const lines = columns === null ? 1 : Math.max(1, Math.ceil(columnsOf(text) / Math.max(1, columns)));
  return lines * LINE_PX + ROW_PADDING_PX;
}

/** offsets[i] is the top of row i; the last entry is the height of all. */
export function offsetsOf(heights: readonly number[]): Float64Array {
  const offsets = new Float64Array(heights.length + 1);
  heights.forEach((height, i) => {
    offsets[i + 1] = (offsets[i] ?? 0) + height;
  });
  return offsets;
}

/** The row that covers `y`. */
export function rowAt(offsets: Float64Array, y: number): number {
  let low = 0;
  let high = Math.max(0, offsets.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** First and one past the last row to draw, with some beyond both edges. */
export function visible(offsets: Float64Array, top: number, height: number, beyond = 12): [number, number] {
  const rows = offsets.length - 1;
  if (rows <= 0) return [0, 0];
  const first = Math.max(0, rowAt(offsets, top) - beyond);
  const last = Math.min(rows, rowAt(offsets, top + height) + 1 + beyond);
  return [first, last];
}
