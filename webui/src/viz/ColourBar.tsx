// The key to a viridis colouring: both ends in numbers.
import { metricNumber } from "../ui/format";
import styles from "./viz.module.css";

interface ColourBarProps {
  label: string;
  lo: number;
  hi: number;
  colour: (unit: number) => string;
}

const STOPS = [0, 0.25, 0.5, 0.75, 1];

export function ColourBar({ label, lo, hi, colour }: ColourBarProps) {
  const gradient = STOPS.map(colour).join(", ");
  return (
    <p className={styles.colourBar}>
      {label} {metricNumber(lo)}
      <span className={styles.gradient} style={{ background: `linear-gradient(to right, ${gradient})` }} />
      {metricNumber(hi)}
    </p>
  );
}
