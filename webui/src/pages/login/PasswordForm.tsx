// User and password, with the error beside the field, a word on caps lock, and a button that says when it works.
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { ApiError } from "../../api/client";
import type { Schemas } from "../../api/schema";
import { signIn } from "../../api/session";
import { Button } from "../../ui/Button";
import { errorText } from "../../ui/errorText";
import { TextField } from "../../ui/TextField";
import css from "./LoginPage.module.css";

const IS_OWN_MACHINE = ["127.0.0.1", "localhost", "[::1]"].includes(window.location.hostname);

interface PasswordFormProps {
  note: string | null;
  onSignedIn: (answer: Schemas["LoginResponse"]) => void;
}

export function PasswordForm({ note, onSignedIn }: PasswordFormProps) {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [isCapsLock, setCapsLock] = useState(false);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isPending) return;
    setPending(true);
    setError(null);
    signIn(username.trim(), password)
      .then(onSignedIn)
      .catch((failure: unknown) => setError(wordsOf(failure)))
      .finally(() => setPending(false));
  };
  const watchCapsLock = (event: KeyboardEvent) => setCapsLock(event.getModifierState("CapsLock"));
  return (
    <form className={css["form"]} onSubmit={submit} aria-label="Sign in">
      {note && <p role="alert">{note}</p>}
      <TextField
        label="User"
        name="username"
        autoComplete="username"
        value={username}
        onChange={setUsername}
        isRequired
        autoFocus
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        onKey={watchCapsLock}
        description={isCapsLock ? "Caps Lock is on" : undefined}
        error={error}
      />
      <Button kind="primary" type="submit" isPending={isPending}>
        {isPending ? "Signing in…" : "Sign in"}
      </Button>
      {IS_OWN_MACHINE && (
        <p className={css["line"]}>
          A master that <code>det</code> started on this machine has no password that you know: run{" "}
          <code>det open</code> to sign in.
        </p>
      )}
    </form>
  );
}

function wordsOf(failure: unknown): string {
  const isRefused = failure instanceof ApiError && failure.status === 401;
  return isRefused ? "User or password is wrong" : errorText(failure);
}
