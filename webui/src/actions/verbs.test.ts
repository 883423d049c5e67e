import { describe, expect, it } from "vitest";
import { allows, type Steerable, undoOf, type Verb } from "./verbs";

const ALL: Verb[] = ["activate", "pause", "cancel", "kill", "archive", "unarchive", "move", "delete", "continue"];
const allowed = (state: string, more: Partial<Steerable> = {}): Verb[] =>
  ALL.filter((verb) => allows(verb, { state: `STATE_${state}`, archived: false, ...more }));

describe("what may be done when", () => {
  it("steers what runs", () => {
    expect(allowed("RUNNING")).toEqual(["pause", "cancel", "kill", "move"]);
    expect(allowed("QUEUED")).toContain("pause");
    expect(allowed("PAUSED")).toEqual(["activate", "cancel", "kill", "move"]);
    expect(allowed("STOPPING_CANCELED")).toEqual(["kill", "move"]);
  });

  it("tidies up what has ended", () => {
    expect(allowed("ERROR")).toEqual(["archive", "move", "delete", "continue"]);
    expect(allowed("COMPLETED", { archived: true })).toEqual(["unarchive", "delete"]);
    expect(allowed("COMPLETED", { archived: true, parentArchived: true })).toEqual(["delete"]);
  });

  it("touches nothing that is being deleted, and steers nothing that it does not manage", () => {
    expect(allowed("DELETING")).toEqual([]);
    expect(allowed("RUNNING", { unmanaged: true })).toEqual(["move"]);
  });

  it("undoes what can be undone", () => {
    expect(undoOf("pause")).toBe("activate");
    expect(undoOf("archive")).toBe("unarchive");
    expect(undoOf("kill")).toBeNull();
  });
});
