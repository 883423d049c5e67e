// The line over the rows: how many, the baseline, updates that wait; what is done to the chosen ones comes in as children.
import type { ReactNode } from "react";
import { Button } from "../../ui/Button";
import { count, plural } from "../../ui/format";
import { nounOf } from "./bulk";
import css from "./project.module.css";
import type { Kind } from "./rowValues";
import type { TableState } from "./tableState";
import type { TableRows } from "./useTableRows";

interface StatusLineProps {
  table: TableRows;
  total: number;
  kind: Kind;
  state: TableState;
  isUnread: boolean;
  /** Always in this line, so that the first tick moves nothing. */
  children: ReactNode;
}

export function StatusLine({ table, total, kind, state, isUnread, children }: StatusLineProps): ReactNode {
  const noun = nounOf(kind);
  return (
    <div className={css["status"]}>
      <span role="status">
        {plural(total, noun)}
        {isUnread ? ", of the last query that could be read" : table.isOld ? ", reading…" : ""}
      </span>
      {state.base > 0 && (
        <span className={css["base"]}>
          Baseline: trial {state.base} <Button onPress={() => state.setBase(0)}>Clear</Button>
        </span>
      )}
      {table.updates > 0 && (
        <Button kind="primary" onPress={table.catchUp}>
          {count(table.updates)} {table.updates === 1 ? "update" : "updates"} ↑
        </Button>
      )}
      {children}
    </div>
  );
}
