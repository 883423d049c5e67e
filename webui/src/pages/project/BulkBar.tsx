// What can be done to the chosen rows: at once with Undo, but for killing and deleting.
import { useState } from "react";
import { CHANGED } from "../../actions/changed";
import { MoveDialog } from "../../actions/MoveDialog";
import { queryClient, useApi } from "../../api/useApi";
import { EVERYTHING, NOTHING, type Selection } from "../../grid/selection";
import { useLaunch } from "../../task/useLaunch";
import { Button } from "../../ui/Button";
import { errorText } from "../../ui/errorText";
import { count, plural } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { toast } from "../../ui/toast";
import { useConfirm } from "../../ui/useConfirm";
import { actOnChosen, type BulkResult, type BulkVerb, type Chosen, idsOfChosen, moveChosen, nounOf } from "./bulk";
import css from "./project.module.css";

interface BulkBarProps {
  chosen: Chosen;
  total: number;
  onSelection: (selection: Selection) => void;
  onCompare: () => void;
  /** Something was done; what the table shows will be read again. */
  onDone: () => void;
}

const MOST_COMPARED = 500;
/** As the master takes them. */
const MOST_IN_TENSORBOARD = 10_000;

export function BulkBar({ chosen, total, onSelection, onCompare, onDone }: BulkBarProps) {
  const [isMoving, setMoving] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const { confirmKill, confirmDelete } = useConfirm();
  const noun = nounOf(chosen.kind);
  const what = plural(chosen.count, noun);
  const run = async (work: () => Promise<BulkResult>) => {
    setBusy(true);
    await done(work, onDone);
    setBusy(false);
  };
  const act = (verb: BulkVerb) => void run(() => actOnChosen(verb, chosen));
  const confirmed = async (verb: "kill" | "delete") => {
    const ask = verb === "kill" ? confirmKill : confirmDelete;
    if (await ask(what, chosen.count)) act(verb);
  };
  const openTensorboard = useTensorboard(chosen);
  const more = [
    {
      id: "tensorboard",
      label: "Open in TensorBoard",
      onAction: () => void openTensorboard(),
      isDisabled: chosen.count > MOST_IN_TENSORBOARD,
    },
    { id: "unarchive", label: "Unarchive", onAction: () => act("unarchive") },
    { id: "move", label: "Move…", onAction: () => setMoving(true) },
    { id: "kill", label: "Kill…", onAction: () => void confirmed("kill"), danger: true },
    { id: "delete", label: "Delete…", onAction: () => void confirmed("delete"), danger: true },
  ];
  const isAll = chosen.count >= total;
  return (
    <div className={css["bulk"]} role="toolbar" aria-label={`Actions on ${what}`}>
      <strong>{count(chosen.count)} selected</strong>
      {!isAll && <Button onPress={() => onSelection(EVERYTHING)}>Select all {count(total)}</Button>}
      <Button onPress={() => onSelection(NOTHING)}>Clear</Button>
      <span className={css["gap"]} />
      {chosen.kind === "run" && (
        <Button kind="primary" isDisabled={chosen.count < 2 || chosen.count > MOST_COMPARED} onPress={onCompare}>
          Compare
        </Button>
      )}
      <Button isDisabled={isBusy} onPress={() => act("pause")}>
        Pause
      </Button>
      <Button isDisabled={isBusy} onPress={() => act("activate")}>
        Activate
      </Button>
      <Button isDisabled={isBusy} onPress={() => act("archive")}>
        Archive
      </Button>
      <Menu label="More" items={more} isDisabled={isBusy} />
      {isMoving && (
        <MoveDialog
          title={`Move ${what}`}
          from={chosen.projectId}
          onClose={() => setMoving(false)}
          onPick={(projectId, name) => {
            setMoving(false);
            void run(() => moveChosen(chosen, projectId, name));
          }}
        />
      )}
    </div>
  );
}

async function done(work: () => Promise<BulkResult>, onDone: () => void): Promise<void> {
  try {
    const { text, undo, isPartial } = await work();
    const back = async (): Promise<BulkResult> => {
      await undo?.();
      return { text: `Undone: ${text}`, undo: undefined, isPartial: false };
    };
    // what was refused is to be read: such a toast stays until it is closed
    toast({ text, kind: isPartial ? "error" : "info", undo: undo && (() => done(back, onDone)) });
  } catch (error) {
    toast({ text: errorText(error), kind: "error" });
  }
  onDone();
  await Promise.all(CHANGED.map((op) => queryClient.invalidateQueries({ queryKey: [op] })));
}

/** One TensorBoard of everything that is chosen, in the workspace of the project. */
function useTensorboard(chosen: Chosen): () => Promise<void> {
  const launch = useLaunch();
  const project = useApi("getProject", { path: { project_id: chosen.projectId } }, { staleTime: 60_000 });
  const workspaceId = project.data?.project.workspaceId;
  return async () => {
    try {
      const ids = await idsOfChosen(chosen);
      const sources = chosen.kind === "run" ? { trialIds: ids } : { experimentIds: ids };
      await launch("tensorboard", { config: {}, ...(workspaceId ? { workspaceId } : {}), ...sources });
    } catch (error) {
      toast({ text: errorText(error), kind: "error" });
    }
  };
}
