import { describe, expect, it } from "vitest";
import { flatten, searchedAxes, varyingAxes } from "./hparams";

describe("hyperparameters", () => {
  it("flattens groups into dotted names", () => {
    expect(flatten({ lr: 0.1, net: { layers: 2, act: "relu" }, sizes: [1, 2], none: {} })).toEqual({
      lr: 0.1,
      "net.layers": 2,
      "net.act": "relu",
      sizes: "[1,2]",
      none: "{}",
    });
  });

  it("makes an axis of everything that is searched and of nothing that is fixed", () => {
    const declared = {
      lr: { type: "log", minval: -4, maxval: -1, base: 10 },
      net: { layers: { type: "int", minval: 1, maxval: 4 } },
      act: { type: "categorical", vals: ["relu", "tanh"] },
      batch: { type: "const", val: 32 },
      seed: 7,
    };
    const trials = [
      { lr: 0.1, "net.layers": 2, act: "relu", batch: 32, seed: 7 },
      { lr: 0.01, "net.layers": 3, act: "tanh", batch: 32, seed: 7 },
    ];
    expect(searchedAxes(declared, trials)).toEqual([
      { key: "lr", label: "lr", kind: "log" },
      { key: "net.layers", label: "net.layers", kind: "linear" },
      { key: "act", label: "act", kind: "category", values: ["relu", "tanh"] },
    ]);
  });

  it("keeps numbers of a categorical in their order", () => {
    const [axis] = searchedAxes({ n: { type: "categorical", vals: [8, 16, 128] } }, [{ n: 128 }, { n: 16 }, { n: 8 }]);
    expect(axis?.values).toEqual(["8", "16", "128"]);
  });

  it("finds what varies where nothing is declared", () => {
    expect(
      varyingAxes([
        { a: 1, b: "x" },
        { a: 2, b: "x" },
      ]).map((axis) => axis.key),
    ).toEqual(["a"]);
  });
});
