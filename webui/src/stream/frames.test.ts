import { expect, test } from "vitest";
import { parseFrame } from "./frames";

test("rows keep their id and number and get names as the rest of the page has them", () => {
  expect(parseFrame('[{"trial":{"id":4,"experiment_id":1,"end_time":null,"seq":9}}]')).toEqual([
    {
      kind: "events",
      events: [{ noun: "trials", id: 4, seq: 9, row: { id: 4, experimentId: 1, endTime: null, seq: 9 } }],
    },
  ]);
});

test("a tick says which series goes how far", () => {
  const [message] = parseFrame('{"metrics":{"trial_id":4,"group":"training","last_batch":30,"seq":9}}');
  expect(message).toEqual({
    kind: "events",
    events: [{ noun: "metrics", id: "4/training", seq: 9, trialId: 4, group: "training", lastBatch: 30 }],
  });
});

test("deletions come as ranges of numbers or as names", () => {
  const ids = (text: string) => parseFrame(text).flatMap((m) => (m.kind === "events" ? m.events.map((e) => e.id) : []));
  expect(ids('{"trials_deleted":"3,5-7"}')).toEqual([3, 5, 6, 7]);
  expect(ids('{"tasks_deleted":"1.a-b,2.c"}')).toEqual(["1.a-b", "2.c"]);
  expect(ids('{"trials_deleted":""}')).toEqual([]);
  expect(ids('{"trials_deleted":"9-1,x"}')).toEqual([]);
});

test("what a newer master may add is passed over", () => {
  expect(parseFrame('[{"cat":{"id":1}},{"alive":12},{"hello":1}]')).toEqual([{ kind: "alive", seq: 12 }]);
});
