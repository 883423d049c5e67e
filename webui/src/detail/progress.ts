// How far something is and when it may be done. Estimates, and named so.

/** Seconds that are left if it goes on as fast as so far; null when that cannot be told. */
export function secondsLeft(progress: number | null | undefined, seconds: number | null | undefined): number | null {
  if (!progress || !seconds || progress < 0.01 || progress >= 1) return null;
  return (seconds * (1 - progress)) / progress;
}

/** Slots times hours over trials. */
export function slotHours(trials: readonly { wallClockTime?: number | null | undefined }[], slots: number): number {
  return (trials.reduce((sum, trial) => sum + (trial.wallClockTime ?? 0), 0) * slots) / 3600;
}
