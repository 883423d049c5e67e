// Every address of the page below /det, in the order in which they are tried. Each page is its own chunk.
import { type ComponentType, createElement, lazy, Suspense } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { PageBoundary } from "./shell/PageBoundary";
import { TrialRedirect } from "./shell/TrialRedirect";
import { Skeleton } from "./ui/Skeleton";

type Loose = ComponentType<Record<string, string>>;
type Load = () => Promise<{ default: ComponentType<never> }>;

interface PageRoute {
  path: string;
  page: Loose;
  /** Properties besides those in the path. */
  fixed?: Record<string, string>;
}

export function SignedInRoutes() {
  const [location] = useLocation();
  return (
    <Suspense fallback={<Skeleton rows={6} />}>
      <Switch>
        {REDIRECTS.map(([from, to]) => (
          <Route key={from} path={from}>
            <Redirect to={to} replace />
          </Route>
        ))}
        {PAGES.map(({ path, page, fixed }) => (
          <Route key={path} path={path}>
            {(params) => (
              <PageBoundary at={location}>{createElement(page, { ...named(params), ...fixed })}</PageBoundary>
            )}
          </Route>
        ))}
      </Switch>
    </Suspense>
  );
}

const at = (path: string, page: Loose, fixed?: Record<string, string>): PageRoute =>
  fixed ? { path, page, fixed } : { path, page };

const chunk = (load: Load): Loose => lazy(load as () => Promise<{ default: Loose }>);

const REDIRECTS: readonly (readonly [string, string])[] = [
  ["/", "/dashboard"],
  ["/cluster", "/clusters"],
  ["/cluster/logs", "/clusters/logs"],
  ["/cluster/historical-usage", "/clusters/historical-usage"],
  ["/logs", "/clusters/logs"],
  ["/jobs", "/clusters"],
  ["/projects", "/projects/1/experiments"],
  ["/admin", "/admin/user-management"],
  ["/reload", "/dashboard"],
];

const Experiment = chunk(() => import("./pages/experiment/ExperimentPage"));
const Trial = chunk(() => import("./pages/trial/TrialPage"));
const Cluster = chunk(() => import("./pages/cluster/ClusterPage"));
const Task = chunk(() => import("./pages/tasks/TaskPage"));
const ModelVersion = chunk(() => import("./pages/models/VersionPage"));
const Coming = chunk(() => import("./pages/coming/ComingPage"));

function WorkspaceTasks({ id }: { id: string }) {
  return <Redirect to={`/tasks?workspace=${encodeURIComponent(id)}&all=1`} replace />;
}

function WorkspaceModels({ id }: { id: string }) {
  return <Redirect to={`/models?workspace=${encodeURIComponent(id)}`} replace />;
}

function WorkspaceTemplates({ id }: { id: string }) {
  return <Redirect to={`/templates?workspace=${encodeURIComponent(id)}`} replace />;
}

const PAGES: readonly PageRoute[] = [
  at(
    "/dashboard",
    chunk(() => import("./pages/home/HomePage")),
  ),
  at(
    "/settings/:tab?",
    chunk(() => import("./pages/settings/SettingsPage")),
  ),
  at(
    "/workspaces",
    chunk(() => import("./pages/workspaces/WorkspacesPage")),
  ),
  at("/workspaces/:id/tasks", WorkspaceTasks as Loose),
  at("/workspaces/:id/members", Coming, { what: "members" }),
  at("/workspaces/:id/models", WorkspaceModels as Loose),
  at("/workspaces/:id/templates", WorkspaceTemplates as Loose),
  at("/workspaces/:id/policies", Coming, { what: "policies" }),
  at(
    "/workspaces/:id/:tab?",
    chunk(() => import("./pages/workspaces/WorkspacePage")),
  ),
  at(
    "/projects/:projectId/:tab?",
    chunk(() => import("./pages/project/ProjectPage")),
  ),
  at(
    "/compare",
    chunk(() => import("./pages/compare/ComparePage")),
  ),
  at(
    "/experiments/new",
    chunk(() => import("./pages/create/CreatePage")),
  ),
  at("/experiments/:experimentId/trials/:trialId/:tab?", Trial),
  at("/experiments/:experimentId/:tab?/:viz?", Experiment),
  at("/searches/:experimentId/:tab?", Experiment),
  at("/trials/:trialId/:tab?", TrialRedirect as Loose),
  at("/clusters", Cluster),
  at("/clusters/logs", Cluster, { tab: "logs" }),
  at(
    "/clusters/historical-usage",
    chunk(() => import("./pages/usage/UsagePage")),
  ),
  at("/clusters/:tab", Cluster),
  at("/resourcepool/:pool/:tab?", Cluster),
  at(
    "/tasks",
    chunk(() => import("./pages/tasks/TasksPage")),
  ),
  at(
    "/tasks/new/:kind?",
    chunk(() => import("./pages/tasks/NewTaskPage")),
  ),
  at("/tasks/:taskId/:tab?", Task),
  at(
    "/models",
    chunk(() => import("./pages/models/ModelsPage")),
  ),
  at(
    "/models/:id",
    chunk(() => import("./pages/models/ModelPage")),
  ),
  at(
    "/models/:id/compare",
    chunk(() => import("./pages/models/CompareVersionsPage")),
  ),
  at("/models/:id/versions/:version/:tab?", ModelVersion),
  at(
    "/templates",
    chunk(() => import("./pages/templates/TemplatesPage")),
  ),
  at(
    "/templates/create",
    chunk(() => import("./pages/templates/NewTemplatePage")),
  ),
  at(
    "/templates/edit",
    chunk(() => import("./pages/templates/TemplatePage")),
  ),
  at(
    "/webhooks",
    chunk(() => import("./pages/webhooks/WebhooksPage")),
  ),
  at(
    "/webhooks/create",
    chunk(() => import("./pages/webhooks/NewWebhookPage")),
  ),
  at(
    "/webhooks/:id",
    chunk(() => import("./pages/webhooks/WebhookPage")),
  ),
  at("/policies/*?", Coming, { what: "policies" }),
  at("/admin/*?", Coming, { what: "admin" }),
  at("/interactive/:taskId/*?", Task),
  at("/wait/:type/:taskId", Task),
  at("/:type/:taskId/logs", Task, { tab: "logs" }),
  at(
    "/*?",
    chunk(() => import("./pages/not-found/NotFoundPage")),
  ),
];

/** wouter also gives the parameters by number and the absent ones as undefined. */
function named(params: Record<string, string | undefined>): Record<string, string> {
  const given = Object.entries(params).filter(([name, value]) => /^[a-z]/i.test(name) && value !== undefined);
  return Object.fromEntries(given) as Record<string, string>;
}
