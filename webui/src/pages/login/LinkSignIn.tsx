// Redeems a one-time link as soon as the page runs: a POST, so that a preview of the address does not spend it.
import { useEffect, useRef } from "react";
import { call } from "../../api/client";
import type { Schemas } from "../../api/schema";
import { queryClient } from "../../api/useApi";
import { Skeleton } from "../../ui/Skeleton";

interface LinkSignInProps {
  code: string;
  onSignedIn: (answer: Schemas["LoginResponse"]) => void;
  onRefused: (error: unknown) => void;
}

export function LinkSignIn({ code, onSignedIn, onRefused }: LinkSignInProps) {
  const isSent = useRef(false);
  useEffect(() => {
    // it works once: a second effect run of the same page must not spend it again
    if (isSent.current) return;
    isSent.current = true;
    queryClient.clear();
    call("redeemLoginLink", { body: { code } }).then(onSignedIn, onRefused);
  }, [code, onSignedIn, onRefused]);
  return (
    <div>
      <p>Signing in with the link…</p>
      <Skeleton rows={2} />
    </div>
  );
}
