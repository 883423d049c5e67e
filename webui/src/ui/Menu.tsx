// A button that opens a list of actions. Keyboard, typeahead and focus return come from react-aria.
import { ChevronDown } from "lucide-react";
import type { ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { Menu as AriaMenu, MenuItem, MenuTrigger } from "react-aria-components/Menu";
import { Popover } from "react-aria-components/Popover";
import buttonCss from "./Button.module.css";
import { cx } from "./cx";
import css from "./overlay.module.css";

export interface MenuAction {
  id: string;
  label: string;
  onAction: () => void;
  isDisabled?: boolean | undefined;
  /** Why it is disabled, below its label. */
  why?: string | undefined;
  danger?: boolean | undefined;
}

export interface MenuProps {
  label: string;
  items: readonly MenuAction[];
  /** An icon instead of the words; the label then names the button for screen readers. */
  icon?: ReactNode;
  isDisabled?: boolean | undefined;
}

export function Menu({ label, items, icon, isDisabled }: MenuProps) {
  return (
    <MenuTrigger>
      <AriaButton
        className={cx(icon ? buttonCss["icon"] : buttonCss["button"])}
        aria-label={label}
        isDisabled={isDisabled ?? false}
      >
        {icon ?? (
          <>
            {label}
            <ChevronDown size={14} aria-hidden="true" />
          </>
        )}
      </AriaButton>
      <Popover className={cx(css["popover"])} placement="bottom end">
        <MenuItems label={label} items={items} />
      </Popover>
    </MenuTrigger>
  );
}

export function MenuItems({ label, items }: { label: string; items: readonly MenuAction[] }) {
  return (
    <AriaMenu className={cx(css["list"])} aria-label={label}>
      {items.map((item) => (
        <MenuItem
          key={item.id}
          id={item.id}
          className={cx(css["item"], item.danger && css["danger"])}
          isDisabled={item.isDisabled ?? false}
          onAction={item.onAction}
          textValue={item.label}
        >
          {item.label}
          {item.isDisabled && item.why && <span className={css["why"]}>{item.why}</span>}
        </MenuItem>
      ))}
    </AriaMenu>
  );
}
