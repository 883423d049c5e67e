// The product's own mark: a curve that finds its optimum.
export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" fill="var(--accent)" />
      <path
        d="M6 23c5 0 6-14 11-14 3.6 0 4 7 9 7"
        fill="none"
        stroke="var(--on-accent)"
        strokeWidth="3"
        strokeLinecap="round"
      />
      <circle cx="17" cy="9" r="3" fill="var(--on-accent)" />
    </svg>
  );
}
