import { describe, expect, it } from "vitest";
import { toYaml } from "./yaml";

describe("toYaml", () => {
  it("writes groups, lists and odd words so that they are read back the same", () => {
    const config = {
      name: "my run",
      labels: ["a", "on"],
      searcher: { name: "single", max_length: { batches: 100 }, empty: {}, none: null },
      policies: [{ name: "x", pattern: ".*: boom" }, []],
      flag: true,
    };
    expect(toYaml(config)).toBe(
      [
        "name: my run",
        "labels:",
        "  - a",
        '  - "on"',
        "searcher:",
        "  name: single",
        "  max_length:",
        "    batches: 100",
        "  empty: {}",
        "  none: null",
        "policies:",
        "  - name: x",
        '    pattern: ".*: boom"',
        "  - []",
        "flag: true",
      ].join("\n"),
    );
  });

  it("quotes what would break the text", () => {
    expect(toYaml({ a: "x: y", b: "#no", c: "", d: "1" })).toBe('a: "x: y"\nb: "#no"\nc: ""\nd: "1"');
  });

  it("quotes texts that YAML would read as numbers", () => {
    expect(toYaml([".5", ".inf", ".NaN", "./train.py"])).toBe('- ".5"\n- ".inf"\n- ".NaN"\n- ./train.py');
  });
});
