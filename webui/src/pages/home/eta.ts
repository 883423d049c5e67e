// A plain guess of the time left, from the share done and the time it took.

/** Seconds left, or null while too little is known. */
export function remaining(progress: number, elapsedSeconds: number | null): number | null {
  if (elapsedSeconds === null || elapsedSeconds < 5 || progress < 0.02 || progress >= 1) return null;
  return Math.round((elapsedSeconds / progress) * (1 - progress));
}
