// A menu at the pointer or at the focused element: right click, the Menu key and Shift+F10 open it.
import { type ReactNode, useRef, useState } from "react";
import { Popover } from "react-aria-components/Popover";
import { cx } from "./cx";
import { type MenuAction, MenuItems } from "./Menu";
import css from "./overlay.module.css";

export interface ContextMenuProps {
  label: string;
  /** Asked when the menu opens, so that it can depend on what was clicked. */
  items: readonly MenuAction[] | (() => readonly MenuAction[]);
  children: ReactNode;
}

/** Wraps what can be clicked. */
export function ContextMenu({ label, items, children }: ContextMenuProps) {
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the children are the interactive ones; this only listens
    <div
      onContextMenu={(event) => {
        event.preventDefault();
        setAt({ x: event.clientX, y: event.clientY });
      }}
    >
      {children}
      {at && <MenuAt x={at.x} y={at.y} label={label} items={items} onClose={() => setAt(null)} />}
    </div>
  );
}

export interface MenuAtProps extends Omit<ContextMenuProps, "children"> {
  x: number;
  y: number;
  onClose: () => void;
}

/** An open menu at a point of the window, for components that keep the point themselves. */
export function MenuAt({ x, y, label, items, onClose }: MenuAtProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  const shown = typeof items === "function" ? items() : items;
  const closing = shown.map((item) => ({
    ...item,
    onAction: () => {
      onClose();
      item.onAction();
    },
  }));
  return (
    <>
      <span ref={anchor} aria-hidden="true" style={{ position: "fixed", left: x, top: y, width: 0, height: 0 }} />
      <Popover
        className={cx(css["popover"])}
        triggerRef={anchor}
        placement="bottom start"
        isOpen
        onOpenChange={(isOpen) => !isOpen && onClose()}
      >
        <MenuItems label={label} items={closing} />
      </Popover>
    </>
  );
}
