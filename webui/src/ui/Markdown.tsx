// Notes as formatted text. marked and DOMPurify load with the first note; whatever they are given comes out inert.
import { useEffect, useState } from "react";
import css from "./Markdown.module.css";
import { Skeleton } from "./Skeleton";

export function Markdown({ text }: { text: string }) {
  const [html, setHtml] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void import("./markdownHtml").then(({ markdownHtml }) => isCurrent && setHtml(markdownHtml(text)));
    return () => {
      isCurrent = false;
    };
  }, [text]);
  if (html === null) return <Skeleton rows={3} />;
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the one place; DOMPurify has cleaned it
  return <div className={css["markdown"]} dangerouslySetInnerHTML={{ __html: html }} />;
}
