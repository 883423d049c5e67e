// A link by which others use a notebook or TensorBoard; it is made here, and withdrawn.
import { useState } from "react";
import { call } from "../api/client";
import { useAct } from "../api/useApi";
import { Button } from "../ui/Button";
import { CopyCommand } from "../ui/CopyCommand";
import { Dialog } from "../ui/Dialog";
import { kindOf, type Task, WORDS } from "./kinds";

export function ShareDialog({ task, onClose }: { task: Task; onClose: () => void }) {
  const act = useAct();
  const [address, setAddress] = useState<string | null>(null);
  const path = { task_id: task.taskId };
  const share = () =>
    act({
      label: "Made a link",
      run: async () => setAddress((await call("shareTask", { path })).address),
      invalidate: [],
    });
  const withdraw = async () => {
    const isDone = await act({ label: "Withdrew the link", run: () => call("unshareTask", { path }), invalidate: [] });
    if (isDone) setAddress(null);
  };
  return (
    <Dialog
      title={`Share ${task.name}`}
      onClose={onClose}
      actions={
        <>
          <Button kind="danger" onPress={() => void withdraw()}>
            Withdraw the link
          </Button>
          <Button kind="primary" onPress={() => void share()}>
            Make a link
          </Button>
        </>
      }
    >
      <p>
        Whoever has the link uses the {WORDS[kindOf(task.taskType)]} as you do, without signing in, until you withdraw
        it or the task ends. A new link ends the one before.
      </p>
      {address !== null && <CopyCommand text={window.location.origin + address} />}
    </Dialog>
  );
}
