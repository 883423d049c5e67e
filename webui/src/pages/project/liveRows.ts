// Rows by place that stay where they are: new data changes them in place, a new order waits until it is asked for. Pure.

export interface LiveRows<Row> {
  /** Whose answer it is: the filter and order that were asked for. */
  key: string;
  total: number;
  /** Id by place, as shown. */
  shown: ReadonlyMap<number, number>;
  /** Id by place, as the master says now. */
  fresh: ReadonlyMap<number, number>;
  freshTotal: number;
  byId: ReadonlyMap<number, Row>;
}

export function noRows<Row>(key: string, total: number): LiveRows<Row> {
  return { key, total, shown: new Map(), fresh: new Map(), freshTotal: total, byId: new Map() };
}

/** A page has come: rows at `offset` and how many there are in all. */
export function received<Row extends { id: number }>(
  rows: LiveRows<Row>,
  offset: number,
  page: readonly Row[],
  total: number,
): LiveRows<Row> {
  const byId = new Map(rows.byId);
  const shown = new Map(rows.shown);
  const fresh = new Map(rows.fresh);
  page.forEach((row, i) => {
    byId.set(row.id, row);
    fresh.set(offset + i, row.id);
    if (!shown.has(offset + i) && offset + i < rows.total) shown.set(offset + i, row.id);
  });
  return { ...rows, byId, shown, fresh, freshTotal: total };
}

export function rowAt<Row>(rows: LiveRows<Row>, index: number): Row | undefined {
  const id = rows.shown.get(index);
  return id === undefined ? undefined : rows.byId.get(id);
}

/** How many rows came, went or changed places since what is shown. */
export function updatesIn<Row>(rows: LiveRows<Row>): number {
  const shownIds = new Set(rows.shown.values());
  let came = 0;
  let moved = 0;
  for (const [index, id] of rows.fresh) {
    if (index >= rows.freshTotal) continue;
    if (!shownIds.has(id)) came += 1;
    else if (rows.shown.get(index) !== id) moved += 1;
  }
  const change = Math.abs(rows.freshTotal - rows.total);
  return came > 0 || change > 0 ? Math.max(came, change) : moved;
}

/** Shows the order that the master says now. */
export function caughtUp<Row>(rows: LiveRows<Row>): LiveRows<Row> {
  const shown = new Map([...rows.fresh].filter(([index]) => index < rows.freshTotal));
  return { ...rows, shown, fresh: shown, total: rows.freshTotal };
}
