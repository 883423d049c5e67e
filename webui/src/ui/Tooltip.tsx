// A few words on hover and focus. The child must be focusable (a button or link of ours or of react-aria).
import type { ReactNode } from "react";
import { Focusable } from "react-aria-components/Focusable";
import { Tooltip as AriaTooltip, TooltipTrigger } from "react-aria-components/Tooltip";
import { cx } from "./cx";
import css from "./overlay.module.css";

export function Tooltip({ text, children }: { text: ReactNode; children: ReactNode }) {
  return (
    <TooltipTrigger delay={500} closeDelay={100}>
      {children}
      <AriaTooltip className={cx(css["tooltip"])} offset={6}>
        {text}
      </AriaTooltip>
    </TooltipTrigger>
  );
}

/** The same for plain text: makes it focusable. */
export function Hint({ text, children }: { text: ReactNode; children: ReactNode }) {
  return (
    <Tooltip text={text}>
      <Focusable>
        <span role="note" className={cx(css["hint"])}>
          {children}
        </span>
      </Focusable>
    </Tooltip>
  );
}
