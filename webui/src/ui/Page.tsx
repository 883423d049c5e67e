// The frame of every page: title in the tab, breadcrumbs, heading, state, actions.
import { Fragment, type ReactNode, useEffect } from "react";
import { Link } from "../url";
import { setFavicon } from "./favicon";
import { straight } from "./format";
import css from "./Page.module.css";
import { StatePill } from "./StatePill";
import { stateOf } from "./state";

export interface Crumb {
  label: string;
  href?: string | undefined;
}

export interface PageProps {
  title: string;
  crumbs?: readonly Crumb[] | undefined;
  /** A state of the API: shown as a pill, in the tab title and as the favicon's dot. */
  state?: string | null | undefined;
  /** Another word for the state. */
  stateWord?: string | undefined;
  actions?: ReactNode;
  /** What the heading shows instead of the title, for example an editable name. */
  heading?: ReactNode;
  children?: ReactNode;
}

export function Page({ title, crumbs = [], state, stateWord, actions, heading, children }: PageProps) {
  const shown = state ? stateOf(state) : null;
  const glyph = shown ? `${shown.glyph} ` : "";
  useEffect(() => {
    document.title = `${glyph}${straight(title)} · Determined`;
  }, [glyph, title]);
  useEffect(() => {
    setFavicon(shown?.kind ?? null);
    return () => setFavicon(null);
  }, [shown?.kind]);
  return (
    <div className={css["page"]}>
      <header className={css["head"]}>
        {crumbs.length > 0 && <Crumbs crumbs={crumbs} />}
        <div className={css["title"]}>
          <h1>{heading ?? title}</h1>
          {state && <StatePill state={state} word={stateWord} />}
          {actions && <div className={css["actions"]}>{actions}</div>}
        </div>
      </header>
      {children}
    </div>
  );
}

function Crumbs({ crumbs }: { crumbs: readonly Crumb[] }) {
  return (
    <nav aria-label="Breadcrumb" className={css["crumbs"]}>
      {crumbs.map((crumb, index) => (
        <Fragment key={`${crumb.href ?? ""} ${crumb.label}`}>
          {index > 0 && <span aria-hidden="true">›</span>}
          {crumb.href ? <Link href={crumb.href}>{crumb.label}</Link> : <span>{crumb.label}</span>}
        </Fragment>
      ))}
    </nav>
  );
}
