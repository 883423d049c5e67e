// How far something is, from 0 to 1, with its percentage for screen readers.
import css from "./StatePill.module.css";

export function Progress({ value, label = "Progress" }: { value: number; label?: string | undefined }) {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <div
      className={css["bar"]}
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <div style={{ width: `${percent}%` }} />
    </div>
  );
}
