import { expect, test } from "vitest";
import { type Filters, isNarrowed, kindInAddress, PAGE, queryOf } from "./filters";

const NONE: Filters = { text: "", kind: "", state: "any", workspaceId: 0, isOfAll: false, userId: 0 };

test("without filters the list has one's own tasks", () => {
  expect(queryOf(NONE, 7, 0)).toEqual({ limit: PAGE, offset: 0, userIds: [7] });
  expect(isNarrowed(NONE)).toBe(false);
});

test("all users means no user, unless one is chosen", () => {
  expect(queryOf({ ...NONE, isOfAll: true }, 7, 50)).toEqual({ limit: PAGE, offset: 50 });
  expect(queryOf({ ...NONE, isOfAll: true, userId: 3 }, 7, 0).userIds).toEqual([3]);
  expect(queryOf({ ...NONE, userId: 3 }, 7, 0).userIds).toEqual([7]);
});

test("each filter is sent, and blanks are not", () => {
  const query = queryOf({ ...NONE, text: " train ", kind: "shell", state: "starting", workspaceId: 2 }, 7, 0);
  expect(query).toMatchObject({
    text: "train",
    taskTypes: ["TASK_TYPE_SHELL"],
    states: ["STATE_PULLING", "STATE_STARTING"],
    workspaceId: 2,
  });
  expect(queryOf({ ...NONE, text: "  " }, 7, 0).text).toBeUndefined();
});

test("an unknown kind in the address is every kind", () => {
  expect(kindInAddress("notebook")).toBe("notebook");
  expect(kindInAddress("novelty")).toBe("");
});
