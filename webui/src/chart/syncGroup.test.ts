import { describe, expect, it } from "vitest";
import { groupOf, SyncGroup } from "./syncGroup";

describe("a group of charts", () => {
  it("shares the cursor and tells each chart once per move", () => {
    const group = new SyncGroup();
    const seen: (number | null)[] = [];
    const leave = group.subscribe(() => seen.push(group.get().cursor));
    group.moveCursor(5);
    group.moveCursor(5);
    group.moveCursor(null);
    leave();
    group.moveCursor(9);
    expect(seen).toEqual([5, null]);
  });

  it("isolates a series and brings all back at the second click", () => {
    const group = new SyncGroup();
    group.toggleSolo("trial 1");
    group.toggleSolo("trial 2");
    expect(group.getSolo()).toBe("trial 2");
    group.toggleSolo("trial 2");
    expect(group.getSolo()).toBeNull();
  });

  it("is found by its key and starts afresh when the last chart has gone", () => {
    const group = groupOf("metrics");
    expect(groupOf("metrics")).toBe(group);
    expect(groupOf("other")).not.toBe(group);
    const leave = group.subscribe(() => undefined);
    group.toggleSolo("trial 1");
    leave();
    expect(group.getSolo()).toBeNull();
  });
});
