import { expect, test } from "vitest";
import { deletionOf, versionDeletionOf, whyVersionStays } from "./rules";

test("the number of versions is typed before a model with several is deleted", () => {
  expect(deletionOf({ name: "m", numVersions: 3 })).toMatchObject({
    title: "Delete model m with its 3 versions?",
    typedCount: 3,
  });
  expect(deletionOf({ name: "m", numVersions: 0 }).title).toBe("Delete model m?");
});

test("deleting a version names the aliases that go with it", () => {
  expect(versionDeletionOf("m", 2, ["production"]).text).toContain("Its aliases go with it: production.");
  expect(versionDeletionOf("m", 2, []).text).not.toContain("aliases");
});

test("why a version stays names whoever may delete it, each once", () => {
  expect(whyVersionStays("ann", "bob")).toContain("Only ann and bob,");
  expect(whyVersionStays("ann", "ann")).toContain("Only ann,");
});
