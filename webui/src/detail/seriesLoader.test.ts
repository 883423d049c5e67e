import { expect, test } from "vitest";
import { type SeriesAsk, SeriesLoader } from "./seriesLoader";

const ask = (metricIds: string[], more: Partial<SeriesAsk> = {}): SeriesAsk => ({
  trialIds: [7],
  metricIds,
  xAxis: "batch",
  maxDatapoints: 100,
  since: [],
  ...more,
});

function loader() {
  const sent: SeriesAsk[] = [];
  const made = new SeriesLoader(async (asked) => {
    sent.push(asked);
    const metrics = asked.metricIds.map((id) => ({ group: id.split(".")[0], name: id.split(".")[1] }) as never);
    return [{ trialId: 7, metrics, positions: [{ group: "training", token: "t", continues: false }] }];
  });
  const load = (one: SeriesAsk) => made.load(one, new AbortController().signal);
  return { sent, load, made };
}

test("charts that ask at once ask together, and each gets its own metrics", async () => {
  const { sent, load } = loader();
  const [one, two] = await Promise.all([load(ask(["training.loss"])), load(ask(["training.acc"]))]);
  expect(sent.map((one) => one.metricIds)).toEqual([["training.loss", "training.acc"]]);
  expect(one[0]?.metrics.map(({ name }) => name)).toEqual(["loss"]);
  expect(two[0]?.metrics.map(({ name }) => name)).toEqual(["acc"]);
});

test("other trials, other ranges and other places to go on from are asked for apart", async () => {
  const { sent, load } = loader();
  await Promise.all([
    load(ask(["training.loss"])),
    load(ask(["training.loss"], { trialIds: [8] })),
    load(ask(["training.loss"], { start: 3, end: 4 })),
    load(ask(["training.acc"], { since: ["7/training/5"] })),
    load(ask(["validation.x"], { since: ["7/validation/9"] })),
  ]);
  expect(sent.length).toBe(4);
  expect(sent[0]).toMatchObject({ metricIds: ["training.loss", "validation.x"], since: ["7/validation/9"] });
});

test("what nobody waits for any more is not asked for", async () => {
  const { sent, made } = loader();
  const gone = new AbortController();
  const left = made.load(ask(["training.loss"]), gone.signal).catch(() => "left");
  gone.abort();
  expect(await left).toBe("left");
  await new Promise((done) => setTimeout(done, 20));
  expect(sent).toEqual([]);
});
