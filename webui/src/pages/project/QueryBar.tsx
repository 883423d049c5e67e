// The query line: what is wrong is underlined where it is and said below; what could come next is offered.
// biome-ignore-all lint/a11y/useSemanticElements: a datalist cannot say what its entries are
import { Search } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { useApi } from "../../api/useApi";
import type { Catalogue, Column } from "../../query/catalogue";
import { type Completion, complete, type Suggestion } from "../../query/complete";
import { parse, type QueryError } from "../../query/parse";
import { cx } from "../../ui/cx";
import field from "../../ui/field.module.css";
import css from "./query.module.css";
import type { Kind } from "./rowValues";

interface QueryBarProps {
  projectId: number;
  kind: Kind;
  query: string;
  catalogue: Catalogue;
  onQuery: (query: string, how?: "push" | "replace") => void;
}

const APPLY_MS = 40; // long enough for a burst of keys; rows must follow a keystroke within 100 ms

export function QueryBar({ projectId, kind, query, catalogue, onQuery }: QueryBarProps) {
  const id = useId();
  const [draft, setDraft] = useState(query);
  const [at, setAt] = useState<{ cursor: number; chosen: number } | null>(null);
  const [scroll, setScroll] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setDraft(query), [query]);
  const { error } = parse(draft, catalogue, Date.now());
  const completion = useCompletion(projectId, kind, draft, at?.cursor ?? null, catalogue);
  const isOpen = completion !== null && completion.suggestions.length > 0;
  useEffect(() => {
    if (draft === query || error) return undefined;
    const timer = setTimeout(() => onQuery(draft), APPLY_MS);
    return () => clearTimeout(timer);
  }, [draft, query, error, onQuery]);
  const accept = (suggestion: Suggestion | undefined) => {
    if (!suggestion || !completion) return;
    const next = draft.slice(0, completion.start) + suggestion.insert + draft.slice(completion.end).replace(/^\s+/, "");
    const cursor = completion.start + suggestion.insert.length;
    setDraft(next);
    setAt({ cursor, chosen: -1 });
    requestAnimationFrame(() => input.current?.setSelectionRange(cursor, cursor));
  };
  const onKeyDown = (event: React.KeyboardEvent<HTMLInputElement>) => {
    const suggestions = completion?.suggestions ?? [];
    const chosen = at?.chosen ?? -1;
    if (event.key === "Escape") {
      event.stopPropagation();
      if (isOpen) setAt(null);
      else setDraft("");
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && isOpen && at) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setAt({
        ...at,
        chosen: (chosen + step + suggestions.length + (chosen === -1 && step === -1 ? 1 : 0)) % suggestions.length,
      });
    } else if (event.key === "Enter" || (event.key === "Tab" && isOpen && chosen >= 0)) {
      event.preventDefault();
      if (isOpen && chosen >= 0) accept(suggestions[chosen]);
      else if (!error) {
        setAt(null);
        onQuery(draft, "push");
      }
    }
  };
  return (
    <div className={css["bar"]}>
      <label htmlFor={id} className="visually-hidden">
        Query
      </label>
      <div className={cx(field["search"], css["line"])}>
        <Search size={14} aria-hidden="true" />
        <Underline text={draft} error={error} scroll={scroll} />
        <input
          id={id}
          ref={input}
          className={cx(field["input"], css["input"])}
          data-query=""
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-activedescendant={isOpen && at && at.chosen >= 0 ? `${id}-${at.chosen}` : undefined}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? `${id}-error` : undefined}
          placeholder="hp.lr > 1e-3 and state == COMPLETED and val_loss < 0.3"
          autoComplete="off"
          spellCheck={false}
          value={draft}
          onChange={(event) => {
            setDraft(event.target.value);
            setAt({ cursor: event.target.selectionStart ?? event.target.value.length, chosen: -1 });
          }}
          onFocus={(event) => setAt({ cursor: event.target.selectionStart ?? 0, chosen: -1 })}
          onClick={(event) => setAt({ cursor: event.currentTarget.selectionStart ?? 0, chosen: -1 })}
          onBlur={() => setAt(null)}
          onScroll={(event) => setScroll(event.currentTarget.scrollLeft)}
          onKeyDown={onKeyDown}
        />
        {isOpen && completion && <Offers id={id} completion={completion} chosen={at?.chosen ?? -1} onPick={accept} />}
      </div>
      {error && (
        <p id={`${id}-error`} className={css["error"]} role="status">
          <span aria-hidden="true">✕ </span>
          {error.message}
        </p>
      )}
    </div>
  );
}

/** The same letters behind the field's own, for the wave under what is wrong. */
function Underline({ text, error, scroll }: { text: string; error: QueryError | null; scroll: number }) {
  if (!error) return null;
  const end = Math.max(error.end, error.start + 1);
  return (
    <div className={css["mirror"]} aria-hidden="true">
      <span style={{ transform: `translateX(${-scroll}px)` }}>
        {text.slice(0, error.start)}
        <mark>{text.slice(error.start, end) || " "}</mark>
      </span>
    </div>
  );
}

interface OffersProps {
  id: string;
  completion: Completion;
  chosen: number;
  onPick: (suggestion: Suggestion) => void;
}

function Offers({ id, completion, chosen, onPick }: OffersProps) {
  return (
    <div id={`${id}-list`} role="listbox" aria-label="Suggestions" className={css["offers"]}>
      {completion.suggestions.map((suggestion, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: as above
        <div
          key={suggestion.label}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === chosen}
          className={css["offer"]}
          onPointerDown={(event) => {
            event.preventDefault();
            onPick(suggestion);
          }}
        >
          <span>{suggestion.label}</span>
          <span className={css["detail"]}>{suggestion.detail}</span>
        </div>
      ))}
    </div>
  );
}

/** Values of the column that is being compared are asked of the master. */
function useCompletion(
  projectId: number,
  kind: Kind,
  draft: string,
  cursor: number | null,
  catalogue: Catalogue,
): Completion | null {
  const first = cursor === null ? null : complete(draft, cursor, catalogue);
  const values = useColumnValues(projectId, kind, first?.valuesOf ?? null);
  if (cursor === null) return null;
  return values.length === 0 ? first : complete(draft, cursor, catalogue, values);
}

export function useColumnValues(projectId: number, kind: Kind, column: Column | null): readonly unknown[] {
  const isListed = column !== null && ["text", "labels", "data"].includes(column.kind);
  const answer = useApi(
    "listProjectColumns",
    {
      path: { project_id: projectId },
      query: { tableType: tableType(kind), search: column?.name ?? "", limit: 20, values: true },
    },
    { enabled: isListed, staleTime: 60_000 },
  );
  return answer.data?.columns.find((one) => one.column === column?.name)?.values ?? [];
}

export function tableType(kind: Kind) {
  return kind === "run" ? "TABLE_TYPE_RUN" : "TABLE_TYPE_EXPERIMENT";
}
