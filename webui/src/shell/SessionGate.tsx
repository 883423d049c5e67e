// Lets the signed-in part of the page in once it is known who is there.
import type { ReactNode } from "react";
import { SessionProvider } from "../api/session";
import { useApi } from "../api/useApi";
import { ErrorCard } from "../ui/ErrorCard";
import { Skeleton } from "../ui/Skeleton";
import css from "./Shell.module.css";

export function SessionGate({ children }: { children: ReactNode }) {
  const me = useApi("getMe", undefined, { staleTime: 5 * 60_000 });
  if (me.data) return <SessionProvider user={me.data.user}>{children}</SessionProvider>;
  return (
    <main className={css["alone"]}>
      {me.error && me.error.status !== 401 ? (
        <ErrorCard error={me.error} onRetry={me.refetch} />
      ) : (
        <Skeleton rows={8} />
      )}
    </main>
  );
}
