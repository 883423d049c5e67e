// The first answer of a stream that goes on while the experiment runs: what is known now, asked for again meanwhile.

import { useQuery } from "@tanstack/react-query";
import { type Line, lines, type Params } from "../api/client";
import type { Operations } from "../api/schema";

export function useFirstLine<K extends keyof Operations>(
  op: K,
  params: Params<K>,
  isEnabled: boolean,
  isOver = false,
): { data: Line<K> | null | undefined; error: Error | null } {
  return useQuery<Line<K> | null, Error>({
    queryKey: ["first line", op, params],
    queryFn: async ({ signal }) => {
      for await (const first of lines(op, params, signal)) return first;
      return null;
    },
    enabled: isEnabled,
    refetchInterval: isOver ? false : 30_000,
  });
}
