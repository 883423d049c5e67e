// Grey bars where rows will be, so that nothing jumps when they come.
import css from "./feedback.module.css";

export function Skeleton({ rows = 3 }: { rows?: number | undefined }) {
  return (
    <div className={css["skeleton"]} role="status">
      <span className="visually-hidden">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars have no identity
        <div key={index} aria-hidden="true" />
      ))}
    </div>
  );
}
