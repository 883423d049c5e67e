// The trials before and after this one in its experiment, with `[` and `]`.

import { ChevronLeft, ChevronRight } from "lucide-react";
import type { Experiment, Trial } from "../../detail/types";
import { IconButton } from "../../ui/Button";
import { useShortcut } from "../../ui/useShortcut";
import { navigate } from "../../url";
import { neighboursOf } from "./neighboursOf";

export function Neighbours({ experiment, trial, tab }: { experiment: Experiment; trial: Trial; tab: string }) {
  const { before, after } = neighboursOf(experiment.trialIds ?? [], trial.id);
  const go = (id: number | null): void => {
    if (id !== null) navigate(`/experiments/${experiment.id}/trials/${id}/${tab}`);
  };
  useShortcut("[", "Previous trial", () => go(before), before !== null);
  useShortcut("]", "Next trial", () => go(after), after !== null);
  if (before === null && after === null) return null;
  return (
    <>
      <IconButton label="Previous trial  [" isDisabled={before === null} onPress={() => go(before)}>
        <ChevronLeft size={16} aria-hidden="true" />
      </IconButton>
      <IconButton label="Next trial  ]" isDisabled={after === null} onPress={() => go(after)}>
        <ChevronRight size={16} aria-hidden="true" />
      </IconButton>
    </>
  );
}
