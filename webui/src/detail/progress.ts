// How far something is and when it may be done. Estimates, and named so.

const FIRST_SECONDS = 5;

/** Seconds that are left if it goes on as fast as so far, rounded as a guess is; null when that cannot be told. */
export function secondsLeft(progress: number | null | undefined, seconds: number | null | undefined): number | null {
  if (!progress || !seconds || seconds < FIRST_SECONDS || progress < 0.01 || progress >= 1) return null;
  const left = (seconds * (1 - progress)) / progress;
  const grain = left >= 7200 ? 600 : left >= 120 ? 60 : 5;
  return Math.max(grain, Math.round(left / grain) * grain);
}

/** Slots times hours over trials. */
export function slotHours(trials: readonly { wallClockTime?: number | null | undefined }[], slots: number): number {
  return (trials.reduce((sum, trial) => sum + (trial.wallClockTime ?? 0), 0) * slots) / 3600;
}
