// Pictures of a search, each with an address of its own.

import css from "../../detail/detail.module.css";
import type { Experiment } from "../../detail/types";
import { ErrorCard } from "../../ui/ErrorCard";
import { Skeleton } from "../../ui/Skeleton";
import { TabLinks } from "../../ui/TabLinks";
import { shownText, useTrials } from "./useTrials";
import { Heat } from "./viz/Heat";
import { Importance } from "./viz/Importance";
import { LearningCurve } from "./viz/LearningCurve";
import { Parallel } from "./viz/Parallel";
import { ParetoFront } from "./viz/ParetoFront";
import { Scatters } from "./viz/Scatters";
import { TrialHistory } from "./viz/TrialHistory";
import { TrialTimeline } from "./viz/TrialTimeline";
import type { VizProps } from "./viz/types";

const VIZ = {
  "learning-curve": { label: "Learning curves", View: LearningCurve },
  "hp-parallel-coordinates": { label: "Parallel coordinates", View: Parallel },
  "hp-scatter-plots": { label: "Scatter", View: Scatters },
  "hp-heat-map": { label: "Heat map", View: Heat },
  importance: { label: "Importance", View: Importance },
  history: { label: "History", View: TrialHistory },
  timeline: { label: "Timeline", View: TrialTimeline },
  pareto: { label: "Pareto front", View: ParetoFront },
} satisfies Record<string, { label: string; View: (props: VizProps) => React.ReactNode }>;

type VizId = keyof typeof VIZ;

export function VisualizationTab({ experiment, viz }: { experiment: Experiment; viz: string | undefined }) {
  const found = useTrials(experiment);
  const current = (Object.keys(VIZ) as VizId[]).find((id) => id === viz) ?? "learning-curve";
  const tabs = Object.entries(VIZ).map(([id, { label }]) => ({
    id,
    label,
    href: `/experiments/${experiment.id}/visualization/${id}`,
  }));
  const { View } = VIZ[current];
  return (
    <div className={css["stack"]}>
      <TabLinks tabs={tabs} current={current} label="Pictures" />
      {found.error && found.trials.length === 0 && <ErrorCard error={found.error} onRetry={found.refetch} />}
      {found.isPending ? <Skeleton rows={8} /> : <View experiment={experiment} found={found} />}
      <p className={css["muted"]}>{shownText(found)}</p>
    </div>
  );
}
