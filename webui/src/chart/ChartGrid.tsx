// Many charts side by side with one cursor, and under them the values of all of them at that cursor.
import { type ReactNode, useCallback, useId, useMemo, useState, useSyncExternalStore } from "react";
import styles from "./ChartGrid.module.css";
import { Grid, type Member, useGroup } from "./group";
import { middleEllipsis } from "./names";
import { valueAt } from "./summary";
import { TableTwin } from "./TableTwin";
import { wordOf } from "./ticks";

interface ChartGridProps {
  children: ReactNode;
  syncKey?: string | undefined;
  /** Narrowest width of a chart in pixels. */
  minWidth?: number | undefined;
}

export function ChartGrid({ children, syncKey, minWidth = 340 }: ChartGridProps) {
  const id = useId();
  const key = syncKey ?? id;
  const [members, setMembers] = useState<ReadonlyMap<string, Member>>(new Map());
  const [open, setOpen] = useState(false);
  const join = useCallback((id: string, member: Member) => setMembers((old) => new Map(old).set(id, member)), []);
  const leave = useCallback((id: string) => setMembers((old) => without(old, id)), []);
  const context = useMemo(() => ({ syncKey: key, join, leave }), [key, join, leave]);
  return (
    <Grid value={context}>
      <div
        className={styles.grid}
        style={{ gridTemplateColumns: `repeat(auto-fill, minmax(min(100%, ${minWidth}px), 1fr))` }}
      >
        {children}
      </div>
      <details className={styles.values} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Values at the cursor, all charts</summary>
        {open && <ValueTable syncKey={key} members={[...members.values()]} />}
      </details>
    </Grid>
  );
}

function ValueTable({ syncKey, members }: { syncKey: string; members: readonly Member[] }) {
  const group = useGroup(syncKey);
  const cursor = useSyncExternalStore(group.subscribe, () => group.get().cursor);
  const [first] = members;
  if (first === undefined) return null;
  const names = new Map(members.flatMap(({ lines }) => lines.map((line) => [line.soloKey, line.name] as const)));
  const rows = [...names].map(([key, name]) => [
    middleEllipsis(name, 32),
    ...members.map((member) => cell(member, key, cursor)),
  ]);
  const at = cursor === null ? "last values" : `at ${first.xLabel} ${wordOf(cursor, first.xKind)}`;
  return (
    <TableTwin caption={at} columns={["series", ...members.map((member) => member.title)]} rows={rows} height={240} />
  );
}

function cell(member: Member, key: string, cursor: number | null): string {
  const line = member.lines.find((one) => one.soloKey === key);
  return line === undefined ? "" : valueAt(line, cursor);
}

function without(members: ReadonlyMap<string, Member>, id: string): ReadonlyMap<string, Member> {
  const rest = new Map(members);
  rest.delete(id);
  return rest;
}
