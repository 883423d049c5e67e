// A line of a few pixels for table cells and cards; pulls in no chart library.
import { sparkPath } from "./spark";

interface SparklineProps {
  values: readonly (number | null)[];
  width?: number | undefined;
  height?: number | undefined;
  label: string;
  colour?: string | undefined;
}

export function Sparkline({ values, width = 96, height = 24, label, colour = "currentColor" }: SparklineProps) {
  const { path, end } = sparkPath(values, width, height);
  return (
    <svg width={width} height={height} role="img" aria-label={label}>
      <path d={path} fill="none" stroke={colour} strokeWidth="1.5" strokeLinejoin="round" />
      {end !== null && <circle cx={end[0]} cy={end[1]} r="2" fill={colour} />}
    </svg>
  );
}
