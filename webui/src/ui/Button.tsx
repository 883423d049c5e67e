// The buttons of the page: Button with words, IconButton with a picture and a name read by screen readers and tooltip.
import type { ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import css from "./Button.module.css";
import { cx } from "./cx";
import { Tooltip } from "./Tooltip";

export interface ButtonProps {
  kind?: "primary" | "plain" | "danger" | undefined;
  onPress?: (() => void) | undefined;
  isDisabled?: boolean | undefined;
  /** Keeps the button focusable and says that something is under way. */
  isPending?: boolean | undefined;
  type?: "button" | "submit" | undefined;
  icon?: ReactNode;
  children?: ReactNode;
  "aria-label"?: string | undefined;
  "aria-pressed"?: boolean | undefined;
  "aria-expanded"?: boolean | undefined;
}

export function Button({ kind = "plain", onPress, isDisabled, isPending, type, icon, children, ...aria }: ButtonProps) {
  return (
    <AriaButton
      className={cx(css["button"], css[kind])}
      type={type ?? "button"}
      isDisabled={isDisabled ?? false}
      isPending={isPending ?? false}
      {...(onPress ? { onPress } : {})}
      {...present(aria)}
    >
      {icon}
      {children}
    </AriaButton>
  );
}

export interface IconButtonProps {
  label: string;
  onPress?: (() => void) | undefined;
  isDisabled?: boolean | undefined;
  "aria-pressed"?: boolean | undefined;
  children: ReactNode;
}

export function IconButton({ label, onPress, isDisabled, children, ...aria }: IconButtonProps) {
  return (
    <Tooltip text={label}>
      <AriaButton
        className={cx(css["icon"])}
        aria-label={label}
        isDisabled={isDisabled ?? false}
        {...(onPress ? { onPress } : {})}
        {...present(aria)}
      >
        {children}
      </AriaButton>
    </Tooltip>
  );
}

function present<T extends object>(aria: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(aria).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
