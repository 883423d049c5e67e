// The places of the page: what the rail shows, the palette offers and the shortcuts reach.
export interface Place {
  id: string;
  label: string;
  href: string;
  keys?: string | undefined;
  keywords?: string | undefined;
  /** Paths that belong to it, besides those below its href. */
  covers?: readonly string[] | undefined;
}

export const HOME: Place = { id: "home", label: "Home", href: "/dashboard", keys: "g h", keywords: "dashboard start" };
export const EXPERIMENTS: Place = {
  id: "experiments",
  label: "Experiments",
  href: "/projects/1/runs",
  keys: "g e",
  keywords: "runs trials searches project",
  covers: ["/projects", "/experiments", "/searches", "/trials", "/compare"],
};
export const MODELS: Place = { id: "models", label: "Models", href: "/models", keys: "g m", keywords: "registry" };
export const TASKS: Place = {
  id: "tasks",
  label: "Tasks",
  href: "/tasks",
  keys: "g t",
  keywords: "jupyter shell command",
};
export const CLUSTER: Place = {
  id: "cluster",
  label: "Cluster",
  href: "/clusters",
  keys: "g c",
  keywords: "gpu slots agents queue jobs pools",
  covers: ["/resourcepool"],
};
export const TEMPLATES: Place = {
  id: "templates",
  label: "Templates",
  href: "/templates",
  keywords: "config share defaults",
};
export const WEBHOOKS: Place = {
  id: "webhooks",
  label: "Webhooks",
  href: "/webhooks",
  keywords: "alert notify slack trigger",
};
export const WORKSPACES: Place = { id: "workspaces", label: "Workspaces", href: "/workspaces", keys: "g w" };
export const SETTINGS: Place = {
  id: "settings",
  label: "Settings",
  href: "/settings",
  keys: "g s",
  keywords: "theme density password tokens shortcuts",
};

export const PLACES: readonly Place[] = [
  HOME,
  EXPERIMENTS,
  { id: "new", label: "New experiment", href: "/experiments/new", keys: "n", keywords: "create submit" },
  MODELS,
  TASKS,
  { id: "new-notebook", label: "New notebook", href: "/tasks/new/notebook", keywords: "start jupyter lab" },
  { id: "new-shell", label: "New shell", href: "/tasks/new/shell", keywords: "start ssh terminal" },
  { id: "new-command", label: "New command", href: "/tasks/new/command", keywords: "start run" },
  { id: "new-tensorboard", label: "New TensorBoard", href: "/tasks/new/tensorboard", keywords: "start" },
  CLUSTER,
  { id: "usage", label: "Usage of the cluster", href: "/clusters/historical-usage", keywords: "gpu hours history" },
  { id: "master-logs", label: "Logs of the master", href: "/clusters/logs" },
  TEMPLATES,
  { id: "new-template", label: "New template", href: "/templates/create", keywords: "create" },
  WEBHOOKS,
  { id: "new-webhook", label: "New webhook", href: "/webhooks/create", keywords: "create alert notify slack" },
  WORKSPACES,
  { id: "compare", label: "Compare trials", href: "/compare" },
  SETTINGS,
  { id: "tokens", label: "Access tokens", href: "/settings/tokens" },
  { id: "signout", label: "Sign out", href: "/logout", keywords: "log out" },
];

/** Whether a path (below /det) lies in a place. */
export function isIn(place: Place, path: string): boolean {
  const roots = [place.href.split("/").slice(0, 2).join("/"), ...(place.covers ?? [])];
  return roots.some((root) => path === root || path.startsWith(`${root}/`));
}
