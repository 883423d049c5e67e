import { beforeEach, expect, test } from "vitest";
import { backOff, Connection, IDLE_MS, SILENCE_MS } from "./connection";
import { FakeWorld } from "./fakes";
import type { StreamEvent, StreamStatus } from "./types";
import { wantedOf } from "./wanted";

let world: FakeWorld;
let events: StreamEvent[];
let statuses: StreamStatus[];
let connection: Connection;

const PROJECT = (id: number, seq: number) => ({ project: { id, seq } });
const brief = () => events.map((event) => (event.reset ? `reset ${event.noun}` : `${event.noun} ${event.id}`));

beforeEach(() => {
  world = new FakeWorld();
  events = [];
  statuses = [];
  connection = new Connection(
    world,
    (found) => events.push(...found),
    (status) => statuses.push(status),
  );
});

function start(seq = 10): void {
  connection.want(wantedOf({ projects: "all" }));
  world.socket.onopen?.();
  world.socket.sync(seq);
}

test("the first subscription asks for what comes and has everything read again once", () => {
  start();
  expect(world.socket.sent[0]?.subscribe).toEqual({ projects: { since: -1 } });
  expect(brief()).toEqual(["reset projects"]);
  expect(statuses).toEqual(["live"]);
});

test("after a break it goes on where it was, and nothing is missing or doubled", () => {
  start();
  world.socket.say(PROJECT(1, 11), PROJECT(2, 12));
  world.socket.onclose?.();
  expect(statuses.at(-1)).toBe("reconnecting");
  world.pass(500);
  world.socket.onopen?.();
  expect(world.socket.sent[0]?.subscribe).toEqual({ projects: { since: 12 } });
  expect(world.socket.sent[0]?.epoch).toBe("c");
  world.socket.sync(14, PROJECT(3, 14));
  expect(brief()).toEqual(["reset projects", "projects 1", "projects 2", "projects 3"]);
  expect(statuses.at(-1)).toBe("live");
});

test("a quiet time moves the place to go on from", () => {
  start();
  world.socket.say({ alive: 40 });
  world.socket.onclose?.();
  world.pass(500);
  world.socket.onopen?.();
  expect(world.socket.sent[0]?.subscribe).toEqual({ projects: { since: 40 } });
});

test("numbers of nodes, which each master counts for itself, do not move it", () => {
  start();
  world.socket.say({ agent: { id: "a", seq: 900 } });
  connection.want(wantedOf({ jobs: true }));
  expect(world.socket.sent.at(-1)?.subscribe).toEqual({ jobs: { since: 10 } });
});

test("what still belongs to an earlier subscription is not heard twice", () => {
  start();
  connection.want(wantedOf({ projects: "all", jobs: true }));
  world.socket.say(PROJECT(1, 11));
  expect(brief()).toEqual(["reset projects"]);
  world.socket.sync(11, PROJECT(1, 11));
  expect(brief()).toEqual(["reset projects", "projects 1"]);
});

test("a master of another database is believed, though its numbers are lower", () => {
  start(1000);
  world.socket.onclose?.();
  world.pass(500);
  world.socket.onopen?.();
  world.socket.sync(3, { reset: ["projects"] });
  expect(brief().at(-1)).toBe("reset projects");
  connection.want(wantedOf({ jobs: true }));
  expect(world.socket.sent.at(-1)?.subscribe).toEqual({ jobs: { since: 3 } });
});

test("it comes back later and later, and after three failures the page polls", () => {
  connection.want(wantedOf({ projects: "all" }));
  for (const wait of [500, 1000, 1500]) {
    const before = world.sockets.length;
    world.socket.onclose?.();
    world.pass(wait - 1);
    expect(world.sockets.length).toBe(before);
    world.pass(1);
    expect(world.sockets.length).toBe(before + 1);
  }
  expect(statuses).toEqual(["reconnecting", "reconnecting", "polling"]);
  expect(backOff(20, 1)).toBe(1_500);
  expect(backOff(30, 0)).toBe(15_000);
  expect(backOff(30, 1)).toBe(30_000);
});

test("it tries at once when somebody has seen that the master answers", () => {
  start();
  world.socket.onclose?.();
  connection.retry();
  expect(world.sockets.length).toBe(2);
  connection.retry(); // it is trying already
  expect(world.sockets.length).toBe(2);
});

test("closed, it stays closed until something is wanted", () => {
  start();
  connection.close();
  expect(world.socket.isClosed).toBe(true);
  world.pass(120_000);
  expect(world.sockets.length).toBe(1);
  connection.want(wantedOf({ jobs: true }));
  world.socket.onopen?.();
  expect(world.socket.sent[0]?.subscribe).toEqual({ jobs: { since: -1 } });
});

test("a connection that has gone silent is given up", () => {
  start();
  const silent = world.socket;
  world.pass(SILENCE_MS - 1);
  expect(silent.isClosed).toBe(false);
  world.pass(1);
  expect(silent.isClosed).toBe(true);
  world.pass(500);
  expect(world.sockets.length).toBe(2);
  silent.onclose?.(); // late word of the dead one
  world.pass(1000);
  expect(world.sockets.length).toBe(2);
});

test("with nothing wanted it is closed, and opened again when something is", () => {
  start();
  connection.want(new Map());
  world.pass(IDLE_MS);
  expect(world.socket.isClosed).toBe(true);
  world.pass(60_000);
  expect(world.sockets.length).toBe(1);
  connection.want(wantedOf({ jobs: true }));
  world.socket.onopen?.();
  expect(world.sockets.length).toBe(2);
  expect(world.socket.sent[0]?.subscribe).toEqual({ jobs: { since: 10 } });
});

test("the same wish is not sent twice", () => {
  start();
  connection.want(wantedOf({ projects: "all" }));
  expect(world.socket.sent.length).toBe(1);
});
