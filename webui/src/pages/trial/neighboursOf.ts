// Which trials stand before and after one in the order of their ids.

export function neighboursOf(ids: readonly number[], id: number): { before: number | null; after: number | null } {
  const sorted = [...ids].sort((a, b) => a - b);
  return {
    before: sorted.findLast((one) => one < id) ?? null,
    after: sorted.find((one) => one > id) ?? null,
  };
}
