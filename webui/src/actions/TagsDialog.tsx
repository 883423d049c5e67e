// The tags of an experiment in a dialog, for menus and palettes.

import { Dialog } from "../ui/Dialog";
import { TagsEditor } from "../ui/TagsEditor";
import type { Experiment } from "./changed";
import { useTags } from "./useTags";

export function TagsDialog({ experiment, onClose }: { experiment: Experiment; onClose: () => void }) {
  const save = useTags(experiment);
  return (
    <Dialog title={`Tags of experiment ${experiment.id}`} onClose={onClose}>
      <TagsEditor tags={experiment.labels ?? []} onChange={(tags) => void save(tags)} />
    </Dialog>
  );
}
