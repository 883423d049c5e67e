// Reads and actions for pages: useApi caches a call, useAct does something and says how it went.
import { keepPreviousData, QueryClient, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { errorText } from "../ui/errorText";
import { toast } from "../ui/toast";
import { ApiError, type Args, call, type Params } from "./client";
import { currentReach } from "./connection";
import type { Operations } from "./schema";

export interface ApiOptions {
  enabled?: boolean | undefined;
  refetchInterval?: number | undefined;
  keepPrevious?: boolean | undefined;
  staleTime?: number | undefined;
}

export interface Act {
  /** What was done, in the past tense: "Archived experiment 41". */
  label: string;
  run: () => Promise<unknown>;
  undo?: (() => Promise<unknown>) | undefined;
  invalidate?: (keyof Operations)[] | undefined;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: true,
      refetchIntervalInBackground: false,
      // a request without a network fails at once and says so; waiting for one in silence would look like an answer
      networkMode: "always",
      // a lost master is asked for by the banner alone, once a second
      retry: (count, error) => count < 2 && isTransient(error) && currentReach() === "ok",
    },
  },
});

export function keyOf<K extends keyof Operations>(op: K, params?: Params<K>): readonly [K, Params<K> | undefined] {
  return [op, params] as const;
}

export function useApi<K extends keyof Operations>(
  op: K,
  params?: Params<K>,
  options: ApiOptions = {},
): UseQueryResult<Operations[K]["response"], ApiError> {
  const result = useQuery<Operations[K]["response"], ApiError>({
    queryKey: keyOf(op, params),
    queryFn: ({ signal }) => call(op, ...([params, signal] as unknown as Args<K>)),
    ...(options.enabled === undefined ? {} : { enabled: options.enabled }),
    ...(options.refetchInterval === undefined ? {} : { refetchInterval: options.refetchInterval }),
    ...(options.staleTime === undefined ? {} : { staleTime: options.staleTime }),
    ...(options.keepPrevious ? { placeholderData: keepPreviousData } : {}),
  });
  return withoutTransientError(result);
}

/** What was read before the master went away stays on the page; the banner says that it may be old. */
export function withoutTransientError<T extends { error: unknown; data: unknown }>(result: T): T {
  if (result.error === null || result.data === undefined || !isTransient(result.error)) return result;
  // not a copy: reading every field would have every consumer rendered for changes that it does not look at
  return new Proxy(result, { get: (target, key) => (key === "error" ? null : Reflect.get(target, key)) });
}

/** Returns a function that does a thing, refreshes what it changed, and toasts with Undo or the error. */
export function useAct(): (what: Act) => Promise<boolean> {
  return useCallback(act, []);
}

async function act(what: Act): Promise<boolean> {
  try {
    await what.run();
  } catch (error) {
    toast({ text: errorText(error), kind: "error" });
    return false;
  }
  await refresh(what.invalidate);
  const { undo } = what;
  toast({
    text: what.label,
    undo: undo && (() => act({ label: `Undone: ${what.label}`, run: undo, invalidate: what.invalidate })),
  });
  return true;
}

async function refresh(operations: (keyof Operations)[] | undefined): Promise<void> {
  if (!operations) return void (await queryClient.invalidateQueries());
  await Promise.all(operations.map((op) => queryClient.invalidateQueries({ queryKey: [op] })));
}

function isTransient(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}
