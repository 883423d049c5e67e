// What the list of models shows, kept in the address: words, workspace, labels, archived or not, order.
import { useApi } from "../../api/useApi";
import css from "../../detail/detail.module.css";
import { WorkspaceSelect } from "../../detail/WorkspaceSelect";
import { SearchField } from "../../ui/SearchField";
import { Select } from "../../ui/Select";
import { Tag } from "../../ui/Tag";
import { int, list, oneOf, text, useUrlState } from "../../url";

const SORTS = [
  { id: "SORT_BY_LAST_UPDATED_TIME", label: "Changed last" },
  { id: "SORT_BY_NAME", label: "Name" },
  { id: "SORT_BY_NUM_VERSIONS", label: "Most versions" },
] as const;
const SORT = oneOf(...SORTS.map((one) => one.id));
/** `1` for all is what older addresses say. */
const ARCHIVED = oneOf("0", "1", "only");
const SHOWN = [
  { id: "0", label: "in use" },
  { id: "only", label: "archived" },
  { id: "1", label: "all" },
] as const;
const NONE: string[] = [];
export const PAGE = 100;

export function useModelFilters() {
  const [words, setWords] = useUrlState("q", text, "");
  const [workspace, setWorkspace] = useUrlState("workspace", int, 0);
  const [labels, setLabels] = useUrlState("labels", list, NONE);
  const [archived, setArchived] = useUrlState("archived", ARCHIVED, "0");
  const [sort, setSort] = useUrlState("sort", SORT, "SORT_BY_LAST_UPDATED_TIME");
  const [offset, setOffset] = useUrlState("offset", int, 0);
  /** Another choice is read from its first page. */
  const anew =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      setOffset(0);
      set(value);
    };
  return {
    words,
    workspace,
    labels,
    archived,
    sort,
    offset,
    setOffset,
    setWords: anew(setWords),
    setWorkspace: anew(setWorkspace),
    setLabels: anew(setLabels),
    setArchived: anew(setArchived),
    setSort: anew(setSort),
    isFiltered: words !== "" || workspace > 0 || labels.length > 0,
    query: {
      name: words || undefined,
      workspaceIds: workspace > 0 ? [workspace] : undefined,
      labels: labels.length > 0 ? labels : undefined,
      archived: archived === "1" ? undefined : archived === "only",
      sortBy: sort,
      orderBy: sort === "SORT_BY_NAME" ? ("ORDER_BY_ASC" as const) : ("ORDER_BY_DESC" as const),
      limit: PAGE,
      offset,
    },
  };
}

export type ModelFilterState = ReturnType<typeof useModelFilters>;

export function ModelFilters({ filters }: { filters: ModelFilterState }) {
  const { labels } = filters;
  const known = useApi("listModelLabels", {
    query: { workspaceId: filters.workspace > 0 ? filters.workspace : undefined },
  });
  const rest = (known.data?.labels ?? []).filter((label) => !labels.includes(label));
  return (
    <>
      <div className={css["controls"]}>
        <SearchField label="Find a model" value={filters.words} onChange={filters.setWords} />
        <WorkspaceSelect value={filters.workspace} onChange={filters.setWorkspace} none="all workspaces" />
        <Select
          label="Label"
          value=""
          options={[
            { id: "", label: labels.length === 0 ? "any" : "or also…" },
            ...rest.map((label) => ({ id: label, label })),
          ]}
          onChange={(label) => label !== "" && filters.setLabels([...labels, label])}
          isDisabled={rest.length === 0}
        />
        <Select
          label="Show"
          value={filters.archived}
          options={[...SHOWN]}
          onChange={(id) => filters.setArchived(ARCHIVED.parse(id) ?? "0")}
        />
        <Select
          label="Order"
          value={filters.sort}
          options={[...SORTS]}
          onChange={(id) => filters.setSort(SORT.parse(id) ?? "SORT_BY_LAST_UPDATED_TIME")}
        />
      </div>
      {labels.length > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw its own frame
        <div className={css["row"]} role="group" aria-label="With any of these labels">
          <span className={css["muted"]}>With any of:</span>
          {labels.map((label) => (
            <Tag key={label} text={label} onRemove={() => filters.setLabels(labels.filter((one) => one !== label))} />
          ))}
        </div>
      )}
    </>
  );
}
