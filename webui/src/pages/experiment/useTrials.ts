// The trials of an experiment that pictures are made of: the best ones, as many as can be drawn.

import { useMemo } from "react";
import { useApi } from "../../api/useApi";
import { declaredHparams, isSmallerBetter } from "../../detail/config";
import { type Axis, type Flat, flatten, searchedAxes, varyingAxes } from "../../detail/hparams";
import type { Experiment, Trial } from "../../detail/types";

export const MOST_TRIALS = 500;

export interface TrialsAnswer {
  trials: readonly Trial[];
  flats: readonly Flat[];
  axes: readonly Axis[];
  total: number;
  isPending: boolean;
  error: Error | null;
  refetch: () => void;
}

const NONE: readonly Trial[] = [];

export function useTrials(experiment: Experiment, limit = MOST_TRIALS): TrialsAnswer {
  const answer = useApi(
    "listTrials",
    {
      path: { experiment_id: experiment.id },
      query: {
        limit,
        sortBy: "SORT_BY_BEST_VALIDATION_METRIC",
        orderBy: isSmallerBetter(experiment.config) ? "ORDER_BY_ASC" : "ORDER_BY_DESC",
      },
    },
    { keepPrevious: true },
  );
  const trials = answer.data?.trials ?? NONE;
  const declared = declaredHparams(experiment.config);
  const flats = useMemo(() => trials.map((trial) => flatten(trial.hparams)), [trials]);
  const axes = useMemo(() => {
    const searched = searchedAxes(declared, flats);
    return searched.length > 0 ? searched : varyingAxes(flats);
  }, [declared, flats]);
  return {
    trials,
    flats,
    axes,
    total: answer.data?.pagination.total ?? trials.length,
    isPending: answer.isPending,
    error: answer.error,
    refetch: () => void answer.refetch(),
  };
}

/** `Showing the best 500 of 3,000 trials.`, or nothing when all are there. */
export function shownText({ trials, total }: Pick<TrialsAnswer, "trials" | "total">): string {
  if (trials.length >= total) return "";
  return `Showing the best ${trials.length.toLocaleString("en")} of ${total.toLocaleString("en")} trials.`;
}
