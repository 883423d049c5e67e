import { expect, test } from "vitest";
import { FakeWorld } from "./fakes";
import { Hub } from "./hub";
import type { PortLike } from "./port";
import { PortTransport, serve } from "./port";
import { HIDDEN_MS, Tab } from "./tab";
import type { StreamEvent } from "./types";

const trial = (id: number, experiment: number, seq: number) => ({ trial: { id, experiment_id: experiment, seq } });

function opened(world: FakeWorld): void {
  world.pass(30);
  world.socket.onopen?.();
  world.socket.sync(1);
}

test("listeners share one connection and hear their own", () => {
  const world = new FakeWorld();
  const hub = new Hub(world);
  const [one, two]: [StreamEvent[], StreamEvent[]] = [[], []];
  hub.add({ trials: { experimentIds: [1] } }, (events) => one.push(...events));
  const leave = hub.add({ trials: { experimentIds: [2] } }, (events) => two.push(...events));
  opened(world);
  world.socket.say(trial(5, 1, 2), trial(6, 2, 3));
  expect(world.sockets.length).toBe(1);
  expect(one.map((event) => event.id)).toEqual(["*", 5]);
  expect(two.map((event) => event.id)).toEqual(["*", 6]);
  leave();
  world.pass(30);
  expect(world.socket.sent.at(-1)?.subscribe).toEqual({ trials: { since: 3, trial_ids: [], experiment_ids: [1] } });
});

test("tabs hear through the shared worker, and one that dies is forgotten", () => {
  const world = new FakeWorld();
  const hub = new Hub(world);
  let died: () => void = () => undefined;
  const [here, there] = ports();
  serve(there, hub, (_, then) => {
    died = then;
  });
  const transport = new PortTransport(here);
  const heard: StreamEvent[] = [];
  const statuses: string[] = [];
  transport.onStatus((status) => statuses.push(status));
  transport.add({ projects: "all" }, (events) => heard.push(...events));
  transport.holds("lock");
  opened(world);
  world.socket.say({ project: { id: 4, seq: 2 } });
  expect(heard.map((event) => event.id)).toEqual(["*", 4]);
  expect(statuses).toEqual(["live"]);
  died();
  world.pass(30 + 10_000);
  expect(world.socket.isClosed).toBe(true);
});

test("a session that ends closes the connection of all tabs, until one listens anew", () => {
  const world = new FakeWorld();
  const hub = new Hub(world);
  const [here, there] = ports();
  serve(there, hub, () => undefined);
  const [one, other] = [new PortTransport(here), hub];
  const leave = one.add({ projects: "all" }, () => undefined);
  other.add({ jobs: true }, () => undefined);
  opened(world);
  one.close();
  expect(world.socket.isClosed).toBe(true);
  leave();
  world.pass(60_000);
  expect(world.sockets.length).toBe(1);
  one.add({ projects: "all" }, () => undefined);
  world.pass(30);
  expect(world.sockets.length).toBe(2);
});

test("a tab that is hidden for a minute is not served, and reads all again when it is seen", () => {
  const world = new FakeWorld();
  const tab = new Tab(new Hub(world), world.later);
  const heard: StreamEvent[] = [];
  tab.subscribe({ projects: "all", jobs: true }, (events) => heard.push(...events));
  opened(world);
  heard.length = 0;
  tab.hidden();
  quietly(world, HIDDEN_MS - 1);
  world.socket.say({ project: { id: 1, seq: 2 } });
  expect(heard.map((event) => event.id)).toEqual([1]);
  world.pass(1 + 30 + 10_000);
  expect(world.socket.isClosed).toBe(true);
  tab.seen();
  expect(heard.slice(1).map((event) => [event.noun, event.reset])).toEqual([
    ["projects", true],
    ["jobs", true],
  ]);
  world.pass(30);
  expect(world.sockets.length).toBe(2);
});

test("a tab that is soon seen again goes on as if nothing had been", () => {
  const world = new FakeWorld();
  const tab = new Tab(new Hub(world), world.later);
  const leave = tab.subscribe({ projects: "all" }, () => undefined);
  opened(world);
  tab.hidden();
  quietly(world, 1000);
  tab.seen();
  quietly(world, HIDDEN_MS);
  expect(world.sockets.length).toBe(1);
  expect(world.socket.sent.length).toBe(1);
  leave();
});

/** Time passes while the master has nothing to say but that it is there. */
function quietly(world: FakeWorld, ms: number): void {
  for (let left = ms; left > 0; left -= 15_000) {
    world.pass(Math.min(left, 15_000));
    world.socket.say({ alive: 1 });
  }
}

/** Two ends; what is posted on one is heard on the other at once. */
function ports(): [PortLike, PortLike] {
  const here: PortLike = { postMessage: (data) => there.onmessage?.({ data }), onmessage: null };
  const there: PortLike = { postMessage: (data) => here.onmessage?.({ data }), onmessage: null };
  return [here, there];
}
