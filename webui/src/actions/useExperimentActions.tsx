// Everything that can be done to an experiment, as items of a menu. Reversible things happen at once and offer Undo;
// stopping, killing and deleting ask first.

import { type ReactNode, useState } from "react";
import { call } from "../api/client";
import { useAct } from "../api/useApi";
import type { Launch } from "../task/launching";
import { useLaunch } from "../task/useLaunch";
import type { MenuAction } from "../ui/Menu";
import { useConfirm } from "../ui/useConfirm";
import { navigate } from "../url";
import { CHANGED, type Experiment } from "./changed";
import { MoveDialog } from "./MoveDialog";
import { TagsDialog } from "./TagsDialog";
import { allows, DONE, LABELS, undoOf, type Verb } from "./verbs";

export interface ExperimentActions {
  actions: MenuAction[];
  /** The dialog that an action has opened; render it anywhere. */
  dialog: ReactNode;
  /** Do one of them by name. */
  run: (verb: Verb) => void;
}

type PlainVerb = "activate" | "pause" | "cancel" | "kill" | "archive" | "unarchive";

const ORDER: readonly Verb[] = [
  "activate",
  "pause",
  "cancel",
  "kill",
  "fork",
  "continue",
  "hpsearch",
  "tensorboard",
  "labels",
  "move",
  "archive",
  "unarchive",
  "delete",
];

export function useExperimentActions(experiment: Experiment, trialId?: number): ExperimentActions {
  const act = useAct();
  const { confirmKill, confirmDelete, confirmStop } = useConfirm();
  const launch = useLaunch();
  const [open, setOpen] = useState<"move" | "labels" | null>(null);
  const name = `experiment ${experiment.id}`;

  const plain = async (asked: PlainVerb): Promise<void> => {
    if (asked === "kill" && !(await confirmKill(name))) return;
    const verb = asked === "cancel" ? await confirmStop(name, experiment.state === "STATE_PAUSED") : asked;
    if (verb === null) return;
    const undo = undoOf(verb) as PlainVerb | null;
    await act({
      label: `${DONE[verb]}: ${name}`,
      run: () => send(verb, experiment.id),
      undo: undo === null ? undefined : () => send(undo, experiment.id),
      invalidate: CHANGED,
    });
  };
  const remove = async (): Promise<void> => {
    if (!(await confirmDelete(name))) return;
    const isDone = await act({
      label: `${DONE.delete}: ${name}`,
      run: () => call("deleteExperiment", { path: { experiment_id: experiment.id } }),
      invalidate: CHANGED,
    });
    if (isDone) navigate(`/projects/${experiment.projectId}`);
  };
  const run = (verb: Verb): void => {
    if (verb === "move" || verb === "labels") setOpen(verb);
    else if (verb === "delete") void remove();
    else if (verb === "tensorboard") void launch("tensorboard", sourcesOf(experiment));
    else if (verb === "fork" || verb === "continue" || verb === "hpsearch")
      navigate(createPath(verb, experiment.id, trialId));
    else void plain(verb);
  };
  const actions = ORDER.filter((verb) => verb !== (experiment.archived ? "archive" : "unarchive")).map((verb) => ({
    id: verb,
    label: LABELS[verb],
    onAction: () => run(verb),
    isDisabled: !allows(verb, experiment),
    danger: verb === "kill" || verb === "delete",
  }));
  return {
    actions,
    run,
    dialog: open === null ? null : <Opened open={open} experiment={experiment} onClose={() => setOpen(null)} />,
  };
}

function sourcesOf({ id, workspaceId }: Experiment): Launch {
  return { config: {}, experimentIds: [id], ...(workspaceId ? { workspaceId } : {}) };
}

function createPath(mode: "fork" | "continue" | "hpsearch", experimentId: number, trialId: number | undefined): string {
  const trial = trialId === undefined ? "" : `&trial=${trialId}`;
  return `/experiments/new?from=${experimentId}${trial}&mode=${mode}`;
}

function send(verb: PlainVerb, experimentId: number): Promise<unknown> {
  return call(`${verb}Experiment`, { path: { experiment_id: experimentId } });
}

interface OpenedProps {
  open: "move" | "labels";
  experiment: Experiment;
  onClose: () => void;
}

function Opened({ open, experiment, onClose }: OpenedProps) {
  const act = useAct();
  if (open === "labels") return <TagsDialog experiment={experiment} onClose={onClose} />;
  const to = (projectId: number): Promise<unknown> =>
    call("moveExperiment", {
      path: { experiment_id: experiment.id },
      body: { destinationProjectId: projectId },
    });
  const pick = (projectId: number, projectName: string): void => {
    onClose();
    void act({
      label: `Moved experiment ${experiment.id} to ${projectName}`,
      run: () => to(projectId),
      undo: () => to(experiment.projectId),
      invalidate: CHANGED,
    });
  };
  return (
    <MoveDialog
      title={`Move experiment ${experiment.id}`}
      from={experiment.projectId}
      onPick={pick}
      onClose={onClose}
    />
  );
}
