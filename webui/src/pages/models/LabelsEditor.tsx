// The labels of a model or a version, changed as a whole. What was chosen shows at once: the next change builds on it.
import { useRef, useState } from "react";
import type { Operations } from "../../api/schema";
import { useAct } from "../../api/useApi";
import { TagsEditor } from "../../ui/TagsEditor";

interface LabelsEditorProps {
  /** Whose: "version 3". */
  what: string;
  labels: readonly string[];
  write: (labels: string[]) => Promise<unknown>;
  invalidate: (keyof Operations)[];
  isDisabled?: boolean;
}

export function LabelsEditor({ what, labels, write, invalidate, isDisabled }: LabelsEditorProps) {
  const act = useAct();
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const writes = useRef<Promise<unknown>>(Promise.resolve());
  const before = chosen ?? labels;
  const change = async (next: string[]) => {
    setChosen(next);
    const turn = writes.current.then(() =>
      act({
        label: `Changed the labels of ${what}`,
        run: () => write(next),
        undo: () => write([...before]),
        invalidate,
      }),
    );
    writes.current = turn;
    await turn;
    // what is stored shows again, unless another change is on its way
    setChosen((current) => (current === next ? null : current));
  };
  return <TagsEditor tags={before} onChange={(tags) => void change(tags)} isDisabled={isDisabled} />;
}
