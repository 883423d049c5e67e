// Saved looks of the table, as tabs that everybody in the project sees: open, save, update, rename, delete.
import { Plus } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/client";
import type { Schemas } from "../../api/schema";
import { useSession } from "../../api/session";
import { type Act, useAct, useApi } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Menu } from "../../ui/Menu";
import { TabLinks } from "../../ui/TabLinks";
import { TextField } from "../../ui/TextField";
import { int, useSearch, useUrlState } from "../../url";
import { withoutSelection } from "./lastLook";
import css from "./project.module.css";

type View = Schemas["SavedView"];
const CHANGED: Act["invalidate"] = ["listViews"];

interface ViewTabsProps {
  projectId: number;
  /** The address of the table, without its look. */
  path: string;
  all: string;
}

export function ViewTabs({ projectId, path, all }: ViewTabsProps) {
  const answer = useApi("listViews", { path: { project_id: projectId } });
  const [current, setCurrent] = useUrlState("view", int, 0);
  const [naming, setNaming] = useState<"new" | "rename" | null>(null);
  const act = useAct();
  const { permissions } = useSession();
  const tab = path.split("/").at(-1) ?? "runs";
  const views = (answer.data?.views ?? []).filter((one) => tabOf(one.state) === tab);
  const view = views.find((one) => one.id === current);
  const look = lookOf(useSearch(), tab);
  const save = async (name: string) => {
    setNaming(null);
    if (naming === "rename" && view) return void patch(view, { name }, `Renamed the view to ${name}`);
    await act({
      label: `Saved the view ${name}`,
      run: async () =>
        setCurrent(
          (
            await call("createView", {
              path: { project_id: projectId },
              body: { name, state: look },
            })
          ).view.id,
        ),
      invalidate: CHANGED,
    });
  };
  const patch = (one: View, body: { name?: string; state?: string }, label: string) =>
    act({
      label,
      run: () => send(projectId, one.id, body),
      undo: () => send(projectId, one.id, { name: one.name, state: one.state }),
      invalidate: CHANGED,
    });
  const isMine = view !== undefined && permissions.mayChange(view.userId);
  const isChanged = view !== undefined && view.state !== look;
  const remove = (one: View) =>
    act({
      label: `Deleted the view ${one.name}`,
      run: async () => {
        await call("deleteView", {
          path: { project_id: projectId, view_id: one.id },
        });
        setCurrent(0);
      },
      undo: () =>
        call("createView", {
          path: { project_id: projectId },
          body: { name: one.name, state: one.state },
        }),
      invalidate: CHANGED,
    });
  return (
    <div className={css["views"]}>
      <TabLinks
        label="Saved views"
        current={view ? String(view.id) : "all"}
        tabs={[
          { id: "all", label: all, href: path },
          ...views.map((one) => ({ id: String(one.id), label: one.name, href: hrefOf(path, one) })),
        ]}
      />
      {isChanged && view && !isMine && <Button onPress={() => setNaming("new")}>Save as your own view</Button>}
      {isChanged && view && isMine && (
        <Button onPress={() => void patch(view, { state: look }, `Updated the view ${view.name}`)}>
          Update “{view.name}”
        </Button>
      )}
      <Button icon={<Plus size={14} aria-hidden="true" />} onPress={() => setNaming("new")}>
        Save view
      </Button>
      {view && isMine && (
        <Menu
          label={`View ${view.name}`}
          items={[
            { id: "rename", label: "Rename…", onAction: () => setNaming("rename") },
            { id: "delete", label: "Delete", onAction: () => void remove(view), danger: true },
          ]}
        />
      )}
      {naming && (
        <NameDialog
          initial={naming === "rename" ? (view?.name ?? "") : ""}
          onName={(name) => void save(name)}
          onClose={() => setNaming(null)}
        />
      )}
    </div>
  );
}

function NameDialog({
  initial,
  onName,
  onClose,
}: {
  initial: string;
  onName: (name: string) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState(initial);
  const isGiven = name.trim() !== "";
  const submit = () => isGiven && onName(name.trim());
  return (
    <Dialog
      title={initial === "" ? "Save this view" : "Rename the view"}
      onClose={onClose}
      actions={
        <Button kind="primary" isDisabled={!isGiven} onPress={submit}>
          Save
        </Button>
      }
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onChange={setName}
        onSubmit={submit}
        description="Everybody who sees the project sees its views."
      />
    </Dialog>
  );
}

function send(projectId: number, viewId: number, body: { name?: string; state?: string }) {
  return call("patchView", {
    path: { project_id: projectId, view_id: viewId },
    body,
  });
}

/** What a view keeps: the query string without the view itself and what is ticked, and of which table it is. */
function lookOf(search: string, tab: string): string {
  const params = new URLSearchParams(withoutSelection(search));
  params.delete("view");
  if (tab !== "runs") params.set("tab", tab);
  return params.toString();
}

function tabOf(state: string): string {
  return new URLSearchParams(state).get("tab") ?? "runs";
}

function hrefOf(path: string, view: View): string {
  const params = new URLSearchParams(view.state);
  params.delete("tab");
  params.set("view", String(view.id));
  return `${path}?${params.toString()}`;
}
