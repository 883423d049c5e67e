// What the slots of a trial do now: one box per GPU with its load and free memory, from the profiler's latest report.

import { bytes } from "../ui/format";
import css from "./detail.module.css";
import { type SlotReading, slotReadings } from "./slots";
import type { Trial } from "./types";

export function ResourceStrip({ trial }: { trial: Trial }) {
  const readings = slotReadings(trial.summaryMetrics);
  if (readings.length === 0) return null;
  return (
    <section className={css["strip"]} aria-label="Load of the slots">
      {readings.map((reading) => (
        <Slot key={`${reading.agent} ${reading.part}`} reading={reading} />
      ))}
    </section>
  );
}

function Slot({ reading }: { reading: SlotReading }) {
  const { agent, part, utilisation, freeBytes } = reading;
  return (
    <div className={css["slot"]}>
      <span className={css["muted"]}>
        {agent} {part.slice(0, 12)}
      </span>
      <meter min={0} max={100} value={utilisation ?? 0} aria-label={`Load of ${part}`} />
      <span>
        {utilisation === null ? "no load reported" : `${Math.round(utilisation)}% busy`}
        {freeBytes === null ? "" : `, ${bytes(freeBytes)} free`}
      </span>
    </div>
  );
}
