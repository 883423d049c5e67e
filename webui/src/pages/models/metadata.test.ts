import { expect, test } from "vitest";
import { holdsLongInteger, metadataText, readMetadata } from "./metadata";

test("metadata are edited as JSON and read back", () => {
  const metadata = { dataset: { version: 3 }, tags: ["a"] };
  expect(readMetadata(metadataText(metadata))).toEqual({ metadata });
  expect(readMetadata(metadataText({}))).toEqual({ metadata: {} });
});

test("a text that is no object of JSON says what is wrong with it", () => {
  for (const text of ["", "{", "{a: 1}"]) expect(readMetadata(text)).toHaveProperty("problem");
  for (const text of ["[]", "3", "null"]) {
    expect(readMetadata(text)).toEqual({ problem: 'Metadata are names with values: {"dataset": "v3"}' });
  }
});

test("integers that a browser would change are found wherever they are", () => {
  expect(holdsLongInteger({ a: [{ b: 2 ** 60 }] })).toBe(true);
  expect(holdsLongInteger({ a: 1.5, b: [1e300, 2 ** 53 - 1], c: null, d: "9".repeat(30) })).toBe(false);
});
