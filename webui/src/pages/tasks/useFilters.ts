// The filters of the list in the address. A change goes back to the first page.
import { flag, int, oneOf, text, useUrlState } from "../../url";
import { type Filters, kindInAddress, STATES } from "./filters";

const STATE = oneOf(...STATES);

export interface FilterState {
  filters: Filters;
  offset: number;
  setOffset: (offset: number) => void;
  change: (next: Partial<Filters>) => void;
  clear: () => void;
}

export function useFilters(): FilterState {
  const [query, setQuery] = useUrlState("q", text, "");
  const [kind, setKind] = useUrlState("kind", text, "");
  const [state, setState] = useUrlState("state", STATE, "any");
  const [workspaceId, setWorkspace] = useUrlState("workspace", int, 0);
  const [isOfAll, setOfAll] = useUrlState("all", flag, false);
  const [userId, setUser] = useUrlState("user", int, 0);
  const [offset, setOffset] = useUrlState("offset", int, 0);
  const filters: Filters = { text: query, kind: kindInAddress(kind), state, workspaceId, isOfAll, userId };
  const change = (next: Partial<Filters>): void => {
    const all = { ...filters, ...next };
    setQuery(all.text);
    setKind(all.kind);
    setState(all.state);
    setWorkspace(all.workspaceId);
    setOfAll(all.isOfAll);
    setUser(all.isOfAll ? all.userId : 0);
    setOffset(0);
  };
  return {
    filters,
    offset: Math.max(0, offset),
    setOffset,
    change,
    clear: () => change({ text: "", kind: "", state: "any", workspaceId: 0, userId: 0 }),
  };
}
