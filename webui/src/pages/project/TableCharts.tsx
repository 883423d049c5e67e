// Charts beside the table, or by themselves: of the trials that are chosen, or else of the first that match.
import { useMemo } from "react";
import { isChosen } from "../../grid/selection";
import { OverlayCharts } from "../../overlay/OverlayCharts";
import { LINES, type OverlaidTrial } from "../../overlay/trials";
import { plural } from "../../ui/format";
import { Skeleton } from "../../ui/Skeleton";
import css from "./project.module.css";
import type { TableState } from "./tableState";
import type { TableRows } from "./useTableRows";

export function TableCharts({ table, state }: { table: TableRows; state: TableState }) {
  const { selection } = state;
  const isAnyChosen = selection.mode === "allBut" || selection.ids.size > 0;
  const { rows } = table;
  const trials = useMemo(() => {
    const found: OverlaidTrial[] = [];
    for (const id of rows?.shown.values() ?? []) {
      const row = rows?.byId.get(id);
      if (row && found.length < LINES && (!isAnyChosen || isChosen(selection, id))) found.push(row);
    }
    return found;
  }, [rows, selection, isAnyChosen]);
  if (rows === null) return table.error ? null : <Skeleton rows={8} />;
  const total = isAnyChosen && selection.mode === "only" ? selection.ids.size : rows.total;
  return (
    <section aria-label="Charts" className={css["charts"]}>
      <p className={css["note"]}>
        {isAnyChosen
          ? `${plural(total, "selected trial")}.`
          : `The first ${plural(trials.length, "trial")} in the table's order; select some to draw those.`}
      </p>
      <OverlayCharts trials={trials} total={isAnyChosen ? total : trials.length} baseId={state.base || null} />
    </section>
  );
}
