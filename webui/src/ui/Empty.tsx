// What a page says when there is nothing to show, and what to do about it.
import type { ReactNode } from "react";
import css from "./feedback.module.css";

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={css["empty"]}>
      <p className={css["title"]}>{title}</p>
      {children && <div className={css["body"]}>{children}</div>}
    </div>
  );
}
