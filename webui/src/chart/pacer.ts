// Paces repaints: at once when the last is long ago, else once when the pause is over, so a flood costs 4 paints a second.

export interface Clock {
  now(): number;
  later(run: () => void, milliseconds: number): () => void;
}

export const browserClock: Clock = {
  now: () => performance.now(),
  later: (run, milliseconds) => {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

export class Pacer {
  #last = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | null = null;
  readonly #paint: () => void;
  readonly #pause: number;
  readonly #clock: Clock;

  constructor(paint: () => void, pause: number, clock: Clock = browserClock) {
    this.#paint = paint;
    this.#pause = pause;
    this.#clock = clock;
  }

  ask(): void {
    if (this.#cancel !== null) return;
    const wait = this.#last + this.#pause - this.#clock.now();
    if (wait <= 0) this.#run();
    else this.#cancel = this.#clock.later(() => this.#run(), wait);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #run(): void {
    this.#cancel = null;
    this.#last = this.#clock.now();
    this.#paint();
  }
}
