// A bordered part of a page with an optional heading and actions beside it.
import type { ReactNode } from "react";
import { useId } from "react";
import css from "./layout.module.css";

export interface CardProps {
  title?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}

export function Card({ title, actions, children }: CardProps) {
  const id = useId();
  if (title === undefined || title === null) return <div className={css["card"]}>{children}</div>;
  return (
    <section className={css["card"]} aria-labelledby={id}>
      <div className={css["spread"]}>
        <h2 id={id}>{title}</h2>
        {actions && <div className={css["row"]}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}
