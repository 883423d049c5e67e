// What may be done about the state of an experiment, one press away: pause or activate, stop.

import { Pause, Play, Square } from "lucide-react";
import type { ExperimentActions } from "../actions/useExperimentActions";
import { allows, isPausable } from "../actions/verbs";
import { Button } from "../ui/Button";
import css from "./detail.module.css";
import type { Experiment } from "./types";

export function StateControl({ experiment, steer }: { experiment: Experiment; steer: ExperimentActions }) {
  const verb = isPausable(experiment.state) ? "pause" : "activate";
  const isPause = verb === "pause";
  return (
    <div className={css["row"]}>
      {allows(verb, experiment) && (
        <Button
          icon={isPause ? <Pause size={14} aria-hidden="true" /> : <Play size={14} aria-hidden="true" />}
          onPress={() => steer.run(verb)}
        >
          {isPause ? "Pause" : "Activate"}
        </Button>
      )}
      {allows("cancel", experiment) && (
        <Button icon={<Square size={14} aria-hidden="true" />} onPress={() => steer.run("cancel")}>
          Stop…
        </Button>
      )}
    </div>
  );
}
