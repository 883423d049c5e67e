// The first answer of a stream that goes on while the experiment runs: what is known now, asked for again meanwhile.

import { useQuery } from "@tanstack/react-query";
import { lines } from "../api/client";

export function useFirstLine<T>(
  path: string,
  query: Record<string, unknown>,
  isEnabled: boolean,
  isOver = false,
): { data: T | null | undefined; error: Error | null } {
  return useQuery<T | null, Error>({
    queryKey: ["first line", path, query],
    queryFn: async ({ signal }) => {
      for await (const first of lines<T>(path, query, signal)) return first;
      return null;
    },
    enabled: isEnabled,
    refetchInterval: isOver ? false : 30_000,
  });
}
