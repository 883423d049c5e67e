import { expect, test } from "vitest";
import { curlCommand, downloadCommand, metricsOf, pythonSnippet, referenceOf } from "./snippet";

test("the command and the Python name the model, the version and a directory", () => {
  expect(downloadCommand("http://m:8080", "counter", 2)).toBe(
    "det -m http://m:8080 model download counter:2 counter-2",
  );
  expect(downloadCommand("http://m", "it's mine", 1)).toBe(
    "det -m http://m model download 'it'\\''s mine:1' it-s-mine-1",
  );
  expect(pythonSnippet("http://m", 'a "b"', 3)).toContain('client.get_model("a \\"b\\"").get_version(3)');
});

test("a name that turns what follows it is not in code", () => {
  expect(referenceOf({ id: 7, name: "a\u202eb" })).toBe("7");
  expect(referenceOf({ id: 7, name: "a b" })).toBe("a b");
});

test("validation metrics come before training metrics", () => {
  const training = { validationMetrics: { avgMetrics: { x: 1 } }, trainingMetrics: { avgMetrics: { loss: 2 } } };
  expect(metricsOf(training).map((one) => one.name)).toEqual(["validation x", "training loss"]);
  expect(metricsOf({})).toEqual([]);
});

test("the address in the curl command is quoted for the path and for the shell", () => {
  expect(curlCommand("http://m:8080", "counter", 2)).toBe(
    `mkdir -p counter-2 && curl -fsS -H "Authorization: Bearer \${DET_TOKEN:?needs an access token}" ` +
      "http://m:8080/api/v1/models/counter/versions/2/archive | tar xzf - -C counter-2",
  );
  expect(curlCommand("http://m", "it's 50% mine!", 1)).toContain(
    " 'http://m/api/v1/models/it'\\''s%2050%25%20mine!/versions/1/archive' ",
  );
});
