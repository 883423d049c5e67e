// A row of named facts, as headers and overviews show them.

import css from "./detail.module.css";

export interface Fact {
  name: string;
  value: React.ReactNode;
}

export function Facts({ facts }: { facts: readonly (Fact | null)[] }) {
  return (
    <dl className={css["facts"]}>
      {facts.map(
        (fact) =>
          fact !== null && (
            <div key={fact.name}>
              <dt>{fact.name}</dt>
              <dd>{fact.value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
