import { describe, expect, it } from "vitest";
import { middleEllipsis } from "./names";

describe("middleEllipsis", () => {
  it("leaves a short name alone", () => {
    expect(middleEllipsis("val_loss", 8)).toBe("val_loss");
  });

  it("keeps both ends of a long name and its length", () => {
    const short = middleEllipsis("resnet50-imagenet-lr0.1-seed42", 15);
    expect(Array.from(short)).toHaveLength(15);
    expect(short.startsWith("resnet5")).toBe(true);
    expect(short.endsWith("-seed42")).toBe(true);
  });

  it("does not cut a character in two", () => {
    expect(middleEllipsis("😀😀😀😀😀😀", 3)).toBe("😀…😀");
  });
});
