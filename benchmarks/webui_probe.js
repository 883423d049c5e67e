// Runs in every measured page before its own scripts: web vitals, frames, the time from an input to what it shows.
(() => {
  const probe = { lcp: 0, cls: 0, inp: 0, strokes: 0, painted: 0, took: null, requests: 0 };
  window.probe = probe;

  observe("largest-contentful-paint", (entry) => {
    probe.lcp = entry.startTime;
  });
  observe("layout-shift", (entry) => {
    if (!entry.hadRecentInput) probe.cls += entry.value;
  });
  observe(
    "event",
    (entry) => {
      if (entry.interactionId) probe.inp = Math.max(probe.inp, entry.duration);
    },
    { durationThreshold: 16 },
  );

  function observe(type, take, options = {}) {
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...options });
  }

  // Drawn is not yet painted: that it is, after the frame in which the last stroke was made.
  let isWaiting = false;
  for (const verb of ["stroke", "fill"]) {
    const plain = CanvasRenderingContext2D.prototype[verb];
    CanvasRenderingContext2D.prototype[verb] = function (...words) {
      probe.strokes += 1;
      if (!isWaiting) {
        isWaiting = true;
        requestAnimationFrame(() => {
          isWaiting = false;
          probe.painted = performance.now();
        });
      }
      return plain.apply(this, words);
    };
  }

  const fetched = window.fetch;
  window.fetch = async (...words) => {
    probe.requests += 1;
    try {
      return await fetched(...words);
    } finally {
      probe.requests -= 1;
    }
  };

  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));

  /** Milliseconds per frame while an element is scrolled by `pixels` in each. */
  probe.scroll = async (selector, pixels, frames) => {
    const element = document.querySelector(selector);
    const took = [];
    let last = await frame();
    for (let i = 0; i < frames; i++) {
      element.scrollTop += pixels;
      const now = await frame();
      took.push(now - last);
      last = now;
    }
    return took;
  };

  /** From the next click or key to the frame that shows `condition` (an expression); the answer is in `took`. */
  probe.arm = (condition) => {
    const holds = new Function(`return (${condition})`);
    probe.took = null;
    const begin = async (event) => {
      for (const name of ["click", "keydown"]) removeEventListener(name, begin, true);
      while (!holds()) await frame();
      await frame();
      probe.took = performance.now() - event.timeStamp;
    };
    for (const name of ["click", "keydown"]) addEventListener(name, begin, true);
  };

  /** From the next click to the last stroke of the charts it opens, once nothing has been drawn for `quiet` ms. */
  probe.armPaint = (quiet = 500) => {
    probe.took = null;
    const begin = async (event) => {
      removeEventListener("click", begin, true);
      const before = probe.strokes;
      while (probe.strokes === before || isWaiting || performance.now() - probe.painted < quiet) await pause(20);
      probe.took = probe.painted - event.timeStamp;
    };
    addEventListener("click", begin, true);
  };

  /** Every chart's pixels, as one text. */
  probe.pixels = () => [...document.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()).join();

  /** Columns of the first chart, as shares of its width, with colour between two heights of it. */
  probe.colouredColumns = (from, to) => {
    const canvas = document.querySelector("canvas");
    const top = Math.round(canvas.height * from);
    const height = Math.round(canvas.height * (to - from));
    const { data, width } = canvas.getContext("2d").getImageData(0, top, canvas.width, height);
    const found = new Set();
    for (let i = 0; i < data.length; i += 4) {
      const [r, g, b, a] = data.slice(i, i + 4);
      if (a > 0 && Math.max(r, g, b) - Math.min(r, g, b) > 40) found.add(((i / 4) % width) / width);
    }
    return [...found].sort((x, y) => x - y);
  };

  probe.scripts = () =>
    performance
      .getEntriesByType("resource")
      .map((entry) => new URL(entry.name).pathname)
      .filter((path) => path.endsWith(".js"));

  /** Milliseconds that the last answer to a path was waited for. */
  probe.waited = (path) =>
    performance
      .getEntriesByType("resource")
      .filter((entry) => new URL(entry.name).pathname === path)
      .at(-1)?.duration ?? 0;
})();
