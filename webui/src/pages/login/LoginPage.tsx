// The sign-in: user and password, or a one-time link (`#code=`). `?redirect=` says where to go, `?cli=true` shows a token.
import { useEffect, useLayoutEffect, useState } from "react";
import { ApiError } from "../../api/client";
import type { Schemas } from "../../api/schema";
import { errorText } from "../../ui/errorText";
import { Mark } from "../../ui/Mark";
import { BASE, navigate, safeRedirect } from "../../url";
import { CliToken } from "./CliToken";
import { useSignInElsewhere } from "./elsewhere";
import { LinkSignIn } from "./LinkSignIn";
import css from "./LoginPage.module.css";
import { MasterLine } from "./MasterLine";
import { PasswordForm } from "./PasswordForm";

export default function LoginPage() {
  const params = new URLSearchParams(window.location.search);
  const code = params.get("code") ?? new URLSearchParams(window.location.hash.slice(1)).get("code");
  const [session, setSession] = useState<Schemas["LoginResponse"] | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const goOn = () => navigate(safeRedirect(params.get("redirect"), BASE), { replace: true });
  const tellOthers = useSignInElsewhere(goOn);
  const onSignedIn = (answer: Schemas["LoginResponse"]) => {
    tellOthers();
    if (params.get("cli") === "true") setSession(answer);
    else goOn();
  };
  useEffect(() => {
    document.title = "Sign in · Determined";
  }, []);
  // before anything is shown: from then on somebody may act
  useLayoutEffect(() => {
    // a link opened in this very tab changes the fragment alone, which loads nothing
    const again = () => window.location.reload();
    window.addEventListener("hashchange", again);
    return () => window.removeEventListener("hashchange", again);
  }, []);
  return (
    <main className={css["login"]}>
      <div className={css["box"]}>
        <div className={css["brand"]}>
          <Mark size={36} />
          <h1>Determined</h1>
        </div>
        {session !== null ? (
          <CliToken token={session.token} onGoOn={goOn} />
        ) : code !== null && refusal === null ? (
          <LinkSignIn code={code} onSignedIn={onSignedIn} onRefused={(error) => setRefusal(wordsOf(error))} />
        ) : (
          <PasswordForm note={refusal} onSignedIn={onSignedIn} />
        )}
        <MasterLine />
      </div>
    </main>
  );
}

function wordsOf(error: unknown): string {
  const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 500;
  if (!isRefused) return `The link did not work: ${errorText(error)}`;
  return "The link has been used or is too old. Sign in with your password, or run `det open` for a new one.";
}
