// Who is signed in, the name that others see, and the password.
import { type FormEvent, useState } from "react";
import { call } from "../../api/client";
import { useSession } from "../../api/session";
import { useAct } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { errorText } from "../../ui/errorText";
import { TextField } from "../../ui/TextField";
import { toast } from "../../ui/toast";
import { passwordProblems } from "./password";
import css from "./SettingsPage.module.css";

export function Account() {
  const { user, permissions } = useSession();
  return (
    <>
      <Card title="Account">
        <dl className={css["facts"]}>
          <dt>User</dt>
          <dd>{user.username}</dd>
          <dt>Role</dt>
          <dd>{permissions.admin ? "Administrator" : "User"}</dd>
        </dl>
        <DisplayName />
      </Card>
      <Card title="Password">{user.remote ? <p>Your password is kept by your organisation.</p> : <Password />}</Card>
    </>
  );
}

function DisplayName() {
  const { user } = useSession();
  const [name, setName] = useState(user.displayName ?? "");
  const act = useAct();
  const save = (event: FormEvent) => {
    event.preventDefault();
    void act({
      label: "Changed the display name",
      run: () => call("patchUser", { path: { user_id: user.id ?? 0 }, body: { displayName: name.trim() } }),
      invalidate: ["getMe", "listUsers"],
    });
  };
  return (
    <form className={css["form"]} onSubmit={save}>
      <TextField label="Display name" value={name} onChange={setName} />
      <Button type="submit" isDisabled={name.trim() === (user.displayName ?? "")}>
        Save
      </Button>
    </form>
  );
}

function Password() {
  const { user } = useSession();
  const [old, setOld] = useState("");
  const [password, setPassword] = useState("");
  const [repeated, setRepeated] = useState("");
  const [error, setError] = useState<string | null>(null);
  const problems = passwordProblems(password);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (problems.length > 0) return setError(`It needs ${problems.join(", ")}`);
    if (password !== repeated) return setError("The two passwords differ");
    call("patchUser", {
      path: { user_id: user.id ?? 0 },
      body: { password, oldPassword: old, isHashed: false },
    })
      .then(() => {
        setOld("");
        setPassword("");
        setRepeated("");
        setError(null);
        toast({ text: "Changed the password" });
      })
      .catch((failure: unknown) => setError(errorText(failure)));
    return undefined;
  };
  return (
    <form className={css["form"]} onSubmit={save} aria-label="Change the password">
      <input type="hidden" name="username" autoComplete="username" value={user.username} readOnly />
      <TextField label="Old password" type="password" autoComplete="current-password" value={old} onChange={setOld} />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
        description="At least 8 characters, with an upper-case letter, a lower-case letter and a digit"
      />
      <TextField
        label="New password again"
        type="password"
        autoComplete="new-password"
        value={repeated}
        onChange={setRepeated}
        error={error}
      />
      <Button type="submit" isDisabled={password === ""}>
        Change the password
      </Button>
    </form>
  );
}
