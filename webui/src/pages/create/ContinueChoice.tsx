// Continue: which trial, and whether it goes on itself or a new experiment begins with its checkpoint.
import type { Schemas } from "../../api/schema";
import { Card } from "../../ui/Card";
import { metricNumber } from "../../ui/format";
import { Select } from "../../ui/Select";
import { stateOf } from "../../ui/state";
import css from "./create.module.css";
import type { Way } from "./start";

export interface ContinueChoiceProps {
  way: Way;
  onWay: (way: Way) => void;
  trials: readonly Schemas["Trial"][];
  trialId: number | undefined;
  onTrial: (id: number) => void;
  isSingle: boolean;
  /** Why it cannot go on under its own id. */
  refusal: string | null;
}

/** Only a trial with a checkpoint has weights to start from. */
function hasCheckpoint(trial: Schemas["Trial"]): boolean {
  return (trial.checkpointCount ?? 0) > 0;
}

export function ContinueChoice({ way, onWay, trials, trialId, onTrial, isSingle, refusal }: ContinueChoiceProps) {
  const usable = trials.filter(hasCheckpoint);
  return (
    <Card title="Continue">
      <fieldset className={css["ways"]}>
        <legend className="visually-hidden">How to continue</legend>
        <label>
          <input
            type="radio"
            name="way"
            checked={way === "same"}
            disabled={refusal !== null}
            onChange={() => onWay("same")}
          />
          <span>
            {isSingle ? "Train this trial further" : "Take up the trials that did not finish"}
            <small>
              {refusal ??
                (isSingle
                  ? trials.some(hasCheckpoint)
                    ? "The same experiment and trial go on from the latest checkpoint; raise the training length."
                    : "The same experiment and trial start over: no checkpoint was saved."
                  : "The same experiment goes on; its configuration stays as it is.")}
            </small>
          </span>
        </label>
        <label>
          <input
            type="radio"
            name="way"
            checked={way === "fork"}
            disabled={usable.length === 0}
            onChange={() => onWay("fork")}
          />
          <span>
            Start a new experiment from its checkpoint
            <small>
              {usable.length === 0
                ? "No trial has saved a checkpoint, so there are no weights to begin with; fork the experiment instead."
                : "A new trial begins with the weights of the chosen one; its batches count from the start."}
            </small>
          </span>
        </label>
      </fieldset>
      {way === "fork" && usable.length > 0 && (
        <Select
          label="Trial whose latest checkpoint is taken"
          value={String(trialId ?? "")}
          options={usable.map((trial) => ({ id: String(trial.id), label: labelOf(trial) }))}
          onChange={(id) => onTrial(Number(id))}
        />
      )}
    </Card>
  );
}

function labelOf(trial: Schemas["Trial"]): string {
  const metric = trial.searcherMetricValue;
  return `Trial ${trial.id} · ${stateOf(trial.state).word}${metric === null || metric === undefined ? "" : ` · ${metricNumber(metric)}`}`;
}
