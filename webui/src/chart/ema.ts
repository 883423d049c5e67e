// Smoothing: an exponential moving average weighted by the distance in x, free of start-up bias.

/**
 * `weight` (0 to 1) is what remains of a value one typical step later, so points that lie far apart are smoothed less
 * than the weight alone would say. Gaps stay gaps.
 */
export function smoothed(x: readonly number[], y: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return [...y];
  const step = typicalStep(x);
  const kept = Math.min(weight, 0.999);
  let sum = 0;
  let mass = 0;
  let before = x[0] ?? 0;
  return y.map((value, i) => {
    if (value === null || !Number.isFinite(value)) return value;
    const at = x[i] ?? before;
    const decay = kept ** Math.max(0, (at - before) / step);
    before = at;
    sum = sum * decay + value * (1 - kept);
    mass = mass * decay + (1 - kept);
    return sum / mass;
  });
}

function typicalStep(x: readonly number[]): number {
  const steps: number[] = [];
  for (let i = 1; i < x.length; i++) {
    const step = (x[i] ?? 0) - (x[i - 1] ?? 0);
    if (step > 0) steps.push(step);
  }
  steps.sort((a, b) => a - b);
  return steps[Math.floor(steps.length / 2)] ?? 1;
}
