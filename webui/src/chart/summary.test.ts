import { describe, expect, it } from "vitest";
import { linesOf } from "./lines";
import { type Axes, cursorWords, summaryOf, valueAt } from "./summary";

const axes: Axes = { xLabel: "batch", xKind: "number" };
const lines = linesOf([{ id: "a", name: "trial 3", x: [0, 100, 200], y: [2, 0.5, 1] }], 0);

describe("the chart in words", () => {
  it("names first, best and last", () => {
    expect(summaryOf("loss", lines, { ...axes, better: "lower" })).toBe(
      "loss, 1 series. trial 3: first 2 at batch 0, best 0.5 at batch 100, last 1 at batch 200.",
    );
  });

  it("claims no best where nobody said which way is better", () => {
    const words = summaryOf("loss", lines, axes);
    expect(words).toContain("lowest 0.5 at batch 100, highest 2 at batch 0");
    expect(words).not.toContain("best");
  });

  it("names the true extremes of lines in buckets", () => {
    const spiky = linesOf(
      [{ id: "a", name: "t", x: [9, 19, 29], y: [1, 1.1, 1], min: [1, -3, 1], max: [1.1, 42.5, 1], exact: false }],
      0,
    );
    const words = summaryOf("loss", spiky, axes);
    expect(words).toContain("lowest -3 near batch 19, highest 42.5 near batch 19, last 1 at batch 29");
  });

  it("says that there is nothing yet", () => {
    expect(summaryOf("loss", [], axes)).toBe("loss: no values yet.");
  });

  it("points to the table when there are many series", () => {
    const many = linesOf(
      Array.from({ length: 8 }, (_, i) => ({ id: `${i}`, name: `${i}`, x: [0], y: [i] })),
      0,
    );
    expect(summaryOf("loss", many, axes)).toContain("And 3 more series: view as table.");
  });

  it("tells the values at the cursor, and the last ones without", () => {
    expect(cursorWords(lines, 100, axes)).toBe("batch 100: trial 3 0.5");
    const [line] = lines;
    expect(line && valueAt(line, null)).toBe("1");
  });

  it("tells the reported value, and the smoothed one beside it", () => {
    const [line] = linesOf([{ id: "a", name: "t", x: [0, 1, 2], y: [0, 0, 9] }], 0.9);
    expect(line && valueAt(line, null)).toMatch(/^9 \(smoothed 3\.3/);
  });

  it("tells nothing where a line has not begun or has ended", () => {
    const [line] = lines;
    expect(line && [valueAt(line, -60), valueAt(line, 240), valueAt(line, 260)]).toEqual(["–", "1", "–"]);
  });
});
