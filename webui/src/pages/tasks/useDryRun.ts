// What the master would make of the form, asked a moment after the last keystroke.
import { useEffect, useState } from "react";
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { type FormKind, typeOf } from "../../task/kinds";
import {
  configOf,
  formProblems,
  idsOf,
  isUnstarted,
  type Problems,
  problemsByField,
  type TaskForm,
  templateOf,
} from "./form";

export interface DryRun {
  answer: Schemas["DryRunTaskResponse"] | undefined;
  problems: Problems;
  isChecking: boolean;
  /** Why the check itself failed. */
  error: unknown;
  /** It can be started. */
  isSound: boolean;
}

const PAUSE_MS = 350;

export function useDryRun(kind: FormKind, form: TaskForm): DryRun {
  const own = formProblems(kind, form);
  const isFaulty = Object.keys(own).length > 0 || isUnstarted(kind, form);
  const wanted = JSON.stringify(requestOf(kind, form));
  const asked = useSettled(wanted);
  const body = JSON.parse(asked) as Schemas["DryRunTaskRequest"];
  const answer = useApi("dryRunTask", { body }, { enabled: !isFaulty, keepPrevious: true, staleTime: 10_000 });
  const isChecking = !isFaulty && (asked !== wanted || answer.isFetching);
  const found = isFaulty || answer.error ? undefined : answer.data;
  return {
    answer: found,
    problems: { ...problemsByField(kind, found?.problems ?? []), ...own },
    isChecking,
    error: isFaulty ? null : answer.error,
    isSound: !isFaulty && !isChecking && found !== undefined && found.problems.length === 0,
  };
}

function requestOf(kind: FormKind, form: TaskForm): Schemas["DryRunTaskRequest"] {
  const sources =
    kind === "tensorboard" ? { experimentIds: idsOf(form.experiments) ?? [], trialIds: idsOf(form.trials) ?? [] } : {};
  const { workspaceId } = form;
  const templateName = templateOf(kind, form);
  return { taskType: typeOf(kind), config: configOf(kind, form), workspaceId, templateName, ...sources };
}

/** The value when it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
