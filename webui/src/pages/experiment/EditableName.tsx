// The name of an experiment in its heading, which can be changed and changed back.

import { call } from "../../api/client";
import { useAct } from "../../api/useApi";
import { EditableText } from "../../detail/EditableText";
import type { Experiment } from "../../detail/types";

export function EditableName({ experiment }: { experiment: Experiment }) {
  const act = useAct();
  const put = (name: string): Promise<unknown> =>
    call("patchExperiment", { path: { experiment_id: experiment.id }, body: { name } });
  const save = (name: string): void => {
    if (name.trim() === "") return;
    void act({
      label: `Renamed experiment ${experiment.id} to ${name}`,
      run: () => put(name),
      undo: () => put(experiment.name),
      invalidate: ["getExperiment"],
    });
  };
  return <EditableText label="Name" value={experiment.name} placeholder="Unnamed" onSave={save} />;
}
