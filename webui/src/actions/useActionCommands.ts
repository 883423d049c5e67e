// The actions of a page in the command palette, and behind the shortcut for actions.

import { useMemo, useRef } from "react";
import { useCommands } from "../shell/palette";
import type { MenuAction } from "../ui/Menu";

/** `what` names the thing that they are done to: "experiment 41". */
export function useActionCommands(actions: readonly MenuAction[], what: string): void {
  const latest = useRef(actions);
  latest.current = actions;
  const offered = actions.filter((action) => !action.isDisabled);
  const key = JSON.stringify(offered.map((action) => [action.id, action.label]));
  const commands = useMemo(
    () =>
      (JSON.parse(key) as [string, string][]).map(([id, label]) => ({
        id: `${id} ${what}`,
        label: `${label.replace("…", "")} ${what}`,
        run: () => latest.current.find((action) => action.id === id)?.onAction(),
      })),
    [key, what],
  );
  useCommands(commands);
}
