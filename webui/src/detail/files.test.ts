import { describe, expect, it } from "vitest";
import { decodeBase64 } from "./files";

describe("files of a model definition", () => {
  it("shows text and refuses what is not", () => {
    expect(decodeBase64(btoa("print(1)\n"))).toBe("print(1)\n");
    expect(decodeBase64("w7w=")).toBe("ü");
    expect(decodeBase64("//8=")).toBeNull();
    expect(decodeBase64("AAE=")).toBeNull();
    expect(decodeBase64("")).toBe("");
  });
});
