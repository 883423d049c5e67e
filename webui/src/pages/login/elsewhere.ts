// A sign-in in one tab signs in the others: they hear of it and go on, without asking the master all the time.
import { useEffect, useRef } from "react";
import { onTabs, tellTabs } from "../../api/tabs";

/** Calls `onSignIn` when another tab signs in; the answered function tells the others of a sign-in here. */
export function useSignInElsewhere(onSignIn: () => void): () => void {
  const latest = useRef(onSignIn);
  useEffect(() => {
    latest.current = onSignIn;
  });
  useEffect(() => onTabs((word) => word === "signed-in" && latest.current()), []);
  return tellSignedIn;
}

function tellSignedIn(): void {
  tellTabs("signed-in");
}
