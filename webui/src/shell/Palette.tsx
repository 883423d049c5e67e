// The command palette: jump anywhere, act on the current page, switch the theme. Arrow keys, Enter, Escape.
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { Dialog } from "react-aria-components/Dialog";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import { cx } from "../ui/cx";
import overlay from "../ui/overlay.module.css";
import css from "./Palette.module.css";
import type { Command } from "./palette";
import { useFoundCommands } from "./useFoundCommands";

export function Palette({ onClose }: { onClose: () => void }) {
  return (
    <ModalOverlay
      className={cx(overlay["backdrop"])}
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Modal className={cx(overlay["modal"])}>
        <Dialog className={cx(css["palette"])} aria-label="Command palette">
          <Finder onClose={onClose} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Finder({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(0);
  const { commands, isSearching } = useFoundCommands(typed);
  const listId = useId();
  const listRef = useRef<HTMLDivElement>(null);
  const current = commands[Math.min(active, commands.length - 1)];
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const next = moved(event.key, active, commands.length);
    if (next !== null) {
      event.preventDefault();
      setActive(next);
      listRef.current?.children[next]?.scrollIntoView({ block: "nearest" });
    }
    if (event.key === "Enter") run(current);
  };
  return (
    <>
      <input
        className={css["input"]}
        // biome-ignore lint/a11y/noAutofocus: a palette that opens by keyboard must take the typing
        autoFocus
        role="combobox"
        aria-label="Go to or do"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={current ? `${listId}-${current.id}` : undefined}
        placeholder="Go to or do: e 41, t 97, a name, a command"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKey}
      />
      <div ref={listRef} id={listId} role="listbox" aria-label="Matches" className={css["list"]}>
        {commands.map((command) => (
          <Choice
            key={command.id}
            id={`${listId}-${command.id}`}
            command={command}
            isActive={command === current}
            onPick={() => run(command)}
          />
        ))}
      </div>
      <p className={css["status"]} role="status">
        {commands.length === 0 && (isSearching ? "Searching…" : "Nothing matches; try an id, a name or a command")}
      </p>
    </>
  );
}

interface ChoiceProps {
  id: string;
  command: Command;
  isActive: boolean;
  onPick: () => void;
}

function Choice({ id, command, isActive, onPick }: ChoiceProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keyboard; options are picked by aria-activedescendant
    <div id={id} role="option" tabIndex={-1} aria-selected={isActive} className={css["choice"]} onClick={onPick}>
      <span>{command.label}</span>
      {command.detail && <span className={css["detail"]}>{command.detail}</span>}
    </div>
  );
}

function moved(key: string, active: number, size: number): number | null {
  if (size === 0) return null;
  if (key === "ArrowDown") return (active + 1) % size;
  if (key === "ArrowUp") return (active - 1 + size) % size;
  if (key === "Home") return 0;
  return key === "End" ? size - 1 : null;
}
