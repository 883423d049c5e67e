import { expect, test } from "vitest";
import { configOf, EMPTY, fieldsOf, formProblems, idsOf, isUnstarted, problemsByField } from "./form";

test("an empty form makes an empty configuration", () => {
  expect(configOf("notebook", EMPTY)).toEqual({});
});

test("what is filled in is in the configuration", () => {
  const form = {
    ...EMPTY,
    description: " tidy ",
    program: "echo $HOME",
    pool: "gpu",
    slots: "0",
    variables: "A=1\n\n  B=x y ",
    requirements: "numpy==2.3.0\nscipy",
    idleTimeout: "1h",
  };
  expect(configOf("command", form)).toEqual({
    description: "tidy",
    entrypoint: ["echo $HOME"],
    resources: { slots: 0, resource_pool: "gpu" },
    environment: { environment_variables: ["A=1", "B=x y"], python: { requirements: ["numpy==2.3.0", "scipy"] } },
  });
  expect(configOf("tensorboard", form)).toEqual({
    description: "tidy",
    resources: { resource_pool: "gpu" },
    environment: { environment_variables: ["A=1", "B=x y"] },
    idle_timeout: "1h",
  });
});

test("a command has no idle timeout and a TensorBoard no slots", () => {
  expect(fieldsOf("command").has("idleTimeout")).toBe(false);
  expect(fieldsOf("tensorboard").has("slots")).toBe(false);
  expect(fieldsOf("shell").has("slots")).toBe(true);
});

test("ids are numbers and ranges, with blanks", () => {
  expect(idsOf("3, 7-9")).toEqual([3, 7, 8, 9]);
  expect(idsOf("")).toEqual([]);
  expect(idsOf("3,")).toEqual([3]);
  expect(idsOf("three")).toBeNull();
});

test("the form itself names what is no number and no variable", () => {
  const problems = formProblems("tensorboard", { ...EMPTY, experiments: "x", variables: "A=1\n=2" });
  expect(problems.experiments).toBeDefined();
  expect(problems.variables).toEqual(["=2 has no name; write NAME=VALUE"]);
  expect(formProblems("shell", { ...EMPTY, slots: "two" }).slots).toBeDefined();
  expect(formProblems("shell", { ...EMPTY, slots: "2", variables: "A\nB=" })).toEqual({});
});

test("a form without its main field has not been begun", () => {
  expect(isUnstarted("command", EMPTY)).toBe(true);
  expect(isUnstarted("tensorboard", { ...EMPTY, trials: "1" })).toBe(false);
  expect(isUnstarted("shell", EMPTY)).toBe(false);
});

test("a problem of the master stands at its field, or at the end", () => {
  const problems = problemsByField("notebook", [
    { path: "resources.slots", message: "must be at least 0" },
    { path: "environment.python.requirements[0]", message: "is empty" },
    { path: "entrypoint", message: "no" },
    { path: "", message: "the pool is too small" },
  ]);
  expect(problems).toEqual({
    slots: ["must be at least 0"],
    requirements: ["is empty"],
    other: ["entrypoint: no", "the pool is too small"],
  });
});
