import { describe, expect, it } from "vitest";
import { MountQueue } from "./mountQueue";

function handFrames(cost: number) {
  let now = 0;
  let pending: (() => void)[] = [];
  return {
    now: () => now,
    next: (run: () => void) => {
      pending.push(run);
    },
    work: () => {
      now += cost;
    },
    frame: () => {
      const due = pending;
      pending = [];
      for (const run of due) run();
      return due.length > 0;
    },
  };
}

describe("mount queue", () => {
  it("spreads work over frames in order", () => {
    const frames = handFrames(10);
    const queue = new MountQueue(25, frames);
    const mounted: number[] = [];
    for (let i = 0; i < 5; i++) {
      queue.add(() => {
        frames.work();
        mounted.push(i);
      });
    }
    frames.frame();
    expect(mounted).toEqual([0, 1, 2]);
    frames.frame();
    expect(mounted).toEqual([0, 1, 2, 3, 4]);
    expect(frames.frame()).toBe(false);
  });

  it("mounts one even when it costs more than the budget, and forgets what was taken back", () => {
    const frames = handFrames(99);
    const queue = new MountQueue(25, frames);
    const mounted: string[] = [];
    const mount = (name: string) => () => {
      frames.work();
      mounted.push(name);
    };
    queue.add(mount("a"));
    queue.add(mount("b"))();
    queue.add(mount("c"));
    while (frames.frame());
    expect(mounted).toEqual(["a", "c"]);
  });
});
