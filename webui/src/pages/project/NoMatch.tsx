// Nothing matches: which condition keeps the rows away, and one press to drop it. Or nothing is there yet.
import { useApi } from "../../api/useApi";
import type { Catalogue } from "../../query/catalogue";
import { type Filter, filterText, group, nodeAt, replaceAt } from "../../query/filter";
import { print } from "../../query/print";
import { Button } from "../../ui/Button";
import { CopyCommand } from "../../ui/CopyCommand";
import { Empty } from "../../ui/Empty";
import { count, plural } from "../../ui/format";
import { nounOf } from "./bulk";
import css from "./project.module.css";
import { tableType } from "./QueryBar";
import type { Kind } from "./rowValues";

interface NoMatchProps {
  projectId: number;
  kind: Kind;
  filter: Filter;
  catalogue: Catalogue;
  onQuery: (query: string) => void;
  onShowArchived: () => void;
}

export function NoMatch({ projectId, kind, filter, catalogue, onQuery, onShowArchived }: NoMatchProps) {
  const answer = useApi("countFilter", {
    path: { project_id: projectId },
    body: { filter: filterText(filter), tableType: tableType(kind) },
  });
  const noun = nounOf(kind);
  const archived = answer.data?.withArchived ?? 0;
  const clauses = answer.data?.clauses ?? [];
  const showArchived = archived > 0 && <Button onPress={onShowArchived}>Show archived ({count(archived)})</Button>;
  if (filter.filterGroup.children.length === 0) {
    return (
      <Empty title={`No ${noun}s yet`}>
        <p>Submit an experiment from a directory with a configuration:</p>
        <CopyCommand text={`det experiment create config.yaml . --project_id ${projectId}`} />
        {showArchived}
      </Empty>
    );
  }
  return (
    <Empty title={`No ${noun} matches`}>
      <p>Without one of the conditions there would be:</p>
      <ul className={css["clauses"]}>
        {clauses.map(({ path, count: without }) => {
          const node = nodeAt(filter.filterGroup, path);
          if (!node) return null;
          const text = print(node.kind === "group" ? node : group("and", [node]), catalogue);
          return (
            <li key={path.join()}>
              <code>{text}</code>
              <span>{plural(without, noun)} without it</span>
              <Button onPress={() => onQuery(print(replaceAt(filter.filterGroup, path, null), catalogue))}>Drop</Button>
            </li>
          );
        })}
      </ul>
      <div className={css["buttons"]}>
        <Button onPress={() => onQuery("")}>Drop all conditions</Button>
        {showArchived}
      </div>
    </Empty>
  );
}
