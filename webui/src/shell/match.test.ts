// What the palette finds.
import { expect, test } from "vitest";
import { jumpsOf, rank } from "./match";

const command = (label: string, keywords?: string) => ({ id: label, label, keywords, run: () => undefined });

test("ids jump by the letter of their noun, and a bare number may be either", () => {
  expect(jumpsOf("e 41")).toEqual([{ label: "Experiment 41", path: "/experiments/41" }]);
  expect(jumpsOf("trial97")).toEqual([{ label: "Trial 97", path: "/trials/97" }]);
  expect(jumpsOf("12").map((jump) => jump.path)).toEqual(["/experiments/12", "/trials/12"]);
  expect(jumpsOf("resnet 12")).toEqual([]);
});

test("beginnings rank before middles and keywords last", () => {
  const found = rank([command("Unpause"), command("Wait", "pause"), command("Pause"), command("Do pause")], "pause");
  expect(found.map((one) => one.label)).toEqual(["Pause", "Do pause", "Unpause", "Wait"]);
});

test("every word must be found", () => {
  expect(rank([command("Theme: dark"), command("Theme: light")], "theme da").map((one) => one.label)).toEqual([
    "Theme: dark",
  ]);
});
