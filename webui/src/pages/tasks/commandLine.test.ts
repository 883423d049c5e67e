import { expect, test } from "vitest";
import { commandLine, shellWord } from "./commandLine";
import { EMPTY } from "./form";

test("an empty form is the bare command", () => {
  expect(commandLine("notebook", EMPTY, "Uncategorized")).toBe("det notebook start");
});

test("fields become --config, the program is one word for sh", () => {
  const form = { ...EMPTY, program: "echo 'a b'", slots: "2", description: "yes", variables: "A=1\nB=x y" };
  expect(commandLine("command", form, "Uncategorized")).toBe(
    `det command run --config 'description="yes"' --config resources.slots=2 ` +
      `--config 'environment.environment_variables=["A=1","B=x y"]' 'echo '\\''a b'\\'''`,
  );
});

test("another workspace is named, and the sources of a TensorBoard come first", () => {
  const form = { ...EMPTY, workspaceId: 3, experiments: "4,7-8", trials: "9" };
  expect(commandLine("tensorboard", form, "my lab")).toBe("det tensorboard start 4 7 8 -t 9 -w 'my lab'");
});

test("a comma, which --config would split at, goes by a file", () => {
  const form = { ...EMPTY, description: "first, second", slots: "1" };
  expect(commandLine("shell", form, "Uncategorized")).toBe(
    `det shell start --config-file /dev/stdin <<'EOF'\ndescription: "first, second"\nresources:\n  slots: 1\nEOF`,
  );
});

test("a notebook on a checkpoint says which", () => {
  expect(commandLine("notebook", EMPTY, "", "ab-12")).toBe("det notebook start --checkpoint ab-12");
});

test("a template is named", () => {
  const form = { ...EMPTY, template: "my gpu" };
  expect(commandLine("notebook", form, "")).toBe("det notebook start --template 'my gpu'");
  expect(commandLine("tensorboard", { ...form, trials: "9" }, "")).toBe("det tensorboard start -t 9");
});

test("words are quoted for a shell only where that is needed", () => {
  expect(shellWord("a=b/c")).toBe("a=b/c");
  expect(shellWord("$(x)")).toBe("'$(x)'");
  expect(shellWord("")).toBe("''");
});
