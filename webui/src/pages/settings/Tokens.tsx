// Access tokens of the user: list, create (shown once), revoke.
import { type FormEvent, useState } from "react";
import { call } from "../../api/client";
import type { Schemas } from "../../api/schema";
import { useSession } from "../../api/session";
import { useAct, useApi } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { CopyCommand } from "../../ui/CopyCommand";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago, dateTime } from "../../ui/format";
import { Skeleton } from "../../ui/Skeleton";
import { TextField } from "../../ui/TextField";
import { useConfirm } from "../../ui/useConfirm";
import css from "./SettingsPage.module.css";

type Token = Schemas["TokenInfo"];

export function Tokens() {
  const { user } = useSession();
  const tokens = useApi("listTokens", { query: { username: user.username } });
  return (
    <>
      <NewToken />
      <Card title="Your access tokens">
        {tokens.error && <ErrorCard error={tokens.error} onRetry={tokens.refetch} />}
        {tokens.isPending && <Skeleton rows={3} />}
        {tokens.data?.tokenInfo.length === 0 && (
          <Empty title="No access tokens">A script can use one instead of a password.</Empty>
        )}
        {tokens.data && tokens.data.tokenInfo.length > 0 && <List tokens={tokens.data.tokenInfo} />}
      </Card>
    </>
  );
}

function List({ tokens }: { tokens: readonly Token[] }) {
  const act = useAct();
  const { confirm } = useConfirm();
  const revoke = async (token: Token) => {
    const text = "Whatever uses it is signed out at once. This cannot be undone.";
    if (!(await confirm({ title: `Revoke token ${token.id}?`, text, verb: "Revoke", isDanger: true }))) return;
    const body = { tokenId: token.id, setRevoked: true };
    await act({
      label: `Revoked token ${token.id}`,
      run: () => call("patchToken", { path: { token_id: token.id }, body }),
      invalidate: ["listTokens"],
    });
  };
  return (
    <DataTable
      caption="Access tokens"
      hidesCaption
      rows={tokens}
      rowKey={(token) => token.id}
      columns={[
        { key: "id", label: "ID", align: "right" },
        { key: "description", label: "Description" },
        { key: "createdAt", label: "Created", render: (token) => ago(token.createdAt) },
        { key: "expiry", label: "Expires", render: (token) => dateTime(token.expiry) },
        {
          key: "act",
          label: <span className="visually-hidden">Actions</span>,
          align: "right",
          render: (token) => (
            <Button kind="danger" onPress={() => void revoke(token)} aria-label={`Revoke token ${token.id}`}>
              Revoke
            </Button>
          ),
        },
      ]}
    />
  );
}

function NewToken() {
  const { user } = useSession();
  const act = useAct();
  const [description, setDescription] = useState("");
  const [days, setDays] = useState("30");
  const [made, setMade] = useState<string | null>(null);
  const create = (event: FormEvent) => {
    event.preventDefault();
    const lifespan = `${Math.max(1, Number.parseInt(days, 10) || 30) * 24}h`;
    void act({
      label: "Created an access token",
      run: async () => {
        const body = { userId: user.id ?? 0, description, lifespan };
        const answer = await call("createToken", { body });
        setMade(answer.token ?? null);
        setDescription("");
      },
      invalidate: ["listTokens"],
    });
  };
  return (
    <Card title="New access token">
      <form className={css["form"]} onSubmit={create} aria-label="New access token">
        <TextField label="Description" value={description} onChange={setDescription} placeholder="what will use it" />
        <TextField label="Days until it expires" type="number" value={days} onChange={setDays} />
        <Button kind="primary" type="submit">
          Create
        </Button>
      </form>
      {made !== null && (
        <div role="status" className={css["form"]}>
          <p>Copy it now; it is shown only once.</p>
          <CopyCommand text={`det token login ${made}`} />
        </div>
      )}
    </Card>
  );
}
