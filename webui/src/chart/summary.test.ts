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
});
