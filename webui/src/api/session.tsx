// Who is signed in. Pages below SessionGate read it with useSession; the cookie itself is never seen by scripts.
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { closeStream } from "../stream";
import { call } from "./client";
import type { Schemas } from "./schema";
import { tellTabs } from "./tabs";
import { queryClient } from "./useApi";

export interface Permissions {
  admin: boolean;
  /** Owners and administrators may change a thing. */
  mayChange: (ownerId: number | null | undefined) => boolean;
}

export interface Session {
  user: Schemas["User"];
  permissions: Permissions;
}

const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ user, children }: { user: Schemas["User"]; children: ReactNode }) {
  const session = useMemo(() => ({ user, permissions: permissionsOf(user) }), [user]);
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("useSession was called outside the signed-in part of the page");
  return session;
}

/** Sets the cookie and answers with the token, which only the `?cli=true` page shows. */
export async function signIn(username: string, password: string): Promise<Schemas["LoginResponse"]> {
  queryClient.clear();
  return await call("login", { body: { username, password, isHashed: false } });
}

export async function signOut(): Promise<void> {
  await call("logout");
  forgetSession();
  tellTabs("signed-out");
}

/** Nothing of what the session could see stays: no answers, no stream. */
export function forgetSession(): void {
  closeStream();
  queryClient.clear();
}

export function permissionsOf(user: Schemas["User"]): Permissions {
  return { admin: user.admin, mayChange: (ownerId) => user.admin || (ownerId != null && ownerId === user.id) };
}
