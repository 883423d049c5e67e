// Mounts charts a few per frame: a page of many charts stays responsive while they appear from the top down.

export interface Frames {
  now(): number;
  next(run: () => void): void;
}

const browserFrames: Frames = {
  now: () => performance.now(),
  next: (run) => {
    requestAnimationFrame(run);
  },
};

export class MountQueue {
  #waiting: (() => void)[] = [];
  #running = false;
  readonly #budget: number;
  readonly #frames: Frames;

  constructor(budget: number, frames: Frames = browserFrames) {
    this.#budget = budget;
    this.#frames = frames;
  }

  /** Runs `mount` soon; the returned function takes it back. */
  add(mount: () => void): () => void {
    this.#waiting.push(mount);
    this.#start();
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== mount);
    };
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#frames.next(() => this.#work());
  }

  #work(): void {
    const until = this.#frames.now() + this.#budget;
    do this.#waiting.shift()?.();
    while (this.#waiting.length > 0 && this.#frames.now() < until);
    this.#running = false;
    if (this.#waiting.length > 0) this.#start();
  }
}

export const mounts = new MountQueue(24);
