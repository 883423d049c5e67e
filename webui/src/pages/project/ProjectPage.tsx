// A project: its trials and experiments as tables, charts of its trials, notes.
import { useMemo } from "react";
import { useLive } from "../../api/live";
import { useApi } from "../../api/useApi";
import { useCommands } from "../../shell/palette";
import { Button } from "../../ui/Button";
import { ErrorCard } from "../../ui/ErrorCard";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { TabLinks } from "../../ui/TabLinks";
import { navigate } from "../../url";
import { ChartsTab } from "./ChartsTab";
import { NotesTab } from "./NotesTab";
import css from "./project.module.css";
import { TableTab } from "./TableTab";

const LIVE = { projects: "all" } as const;

export default function ProjectPage({ projectId, tab = "runs" }: { projectId: string; tab?: string }) {
  const id = Number(projectId);
  const answer = useApi("getProject", { path: { project_id: id } });
  useLive(LIVE);
  const base = `/projects/${id}`;
  // "searches" is upstream's newer word for experiments
  const current = tab === "searches" ? "experiments" : tab;
  useCommands(
    useMemo(
      () => [
        { id: "project-trials", label: "Trials of this project", run: () => navigate(`${base}/runs`) },
        { id: "project-experiments", label: "Experiments of this project", run: () => navigate(`${base}/experiments`) },
        { id: "project-notes", label: "Notes of this project", run: () => navigate(`${base}/notes`) },
      ],
      [base],
    ),
  );
  const project = answer.data?.project;
  if (answer.error && !project)
    return (
      <Page title="Project">
        <ErrorCard error={answer.error} onRetry={() => answer.refetch()} />
      </Page>
    );
  // the first crumb is there from the start: a line that comes later would push the table down
  const crumbs = [
    { label: "Workspaces", href: "/workspaces" },
    ...(project ? [{ label: project.workspaceName ?? "Workspace", href: `/workspaces/${project.workspaceId}` }] : []),
  ];
  return (
    <Page
      title={project?.name ?? `Project ${id}`}
      crumbs={crumbs}
      actions={
        <>
          {project?.description && (
            <span className={css["description"]} title={project.description}>
              {project.description}
            </span>
          )}
          <Button kind="primary" onPress={() => navigate(`/experiments/new?project=${id}`)}>
            New experiment
          </Button>
        </>
      }
    >
      <TabLinks
        label="Sections of the project"
        current={current}
        tabs={[
          { id: "runs", label: "Trials", href: `${base}/runs`, count: project?.numRuns },
          { id: "experiments", label: "Experiments", href: `${base}/experiments`, count: project?.numExperiments },
          { id: "charts", label: "Charts", href: `${base}/charts` },
          { id: "notes", label: "Notes", href: `${base}/notes`, count: project?.notes.length || undefined },
        ]}
      />
      {current === "notes" && (project ? <NotesTab project={project} /> : <Skeleton rows={6} />)}
      {current === "charts" && <ChartsTab projectId={id} />}
      {current === "experiments" && (
        <TableTab key="experiment" projectId={id} kind="experiment" path={`${base}/${tab}`} />
      )}
      {!["notes", "charts", "experiments"].includes(current) && (
        <TableTab key="run" projectId={id} kind="run" path={`${base}/runs`} />
      )}
    </Page>
  );
}
