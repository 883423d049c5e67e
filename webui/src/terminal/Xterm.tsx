// The terminal itself, by xterm.js: a chunk of its own.
import "@xterm/xterm/css/xterm.css";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { useEffect, useRef } from "react";
import { useInk } from "../chart/ink";
import { copyText } from "../ui/clipboard";
import { terminalTheme } from "./colours";
import { type LinkState, type Socket, TerminalLink } from "./link";
import { allowStyles } from "./styles";
import css from "./terminal.module.css";

export interface XtermProps {
  /** Of the WebSocket. */
  path: string;
  label: string;
  onState: (state: LinkState) => void;
  /** Hears how to connect again. */
  onLink: (connect: () => void) => void;
  /** F6: to leave the terminal without a mouse. */
  onLeave: () => void;
}

const SCROLLBACK = 10_000;
const READABLE = 4.5;

export default function Xterm({ path, label, onState, onLink, onLeave }: XtermProps) {
  const box = useRef<HTMLDivElement>(null);
  const terminal = useRef<Terminal | null>(null);
  const ink = useInk();
  const told = useRef({ onState, onLink, onLeave });
  told.current = { onState, onLink, onLeave };
  useEffect(() => {
    if (!box.current) return undefined;
    const forbidStyles = allowStyles();
    const made = makeTerminal(label, () => told.current.onLeave());
    terminal.current = made;
    const stop = run(made, box.current, path, (state) => told.current.onState(state), told.current.onLink);
    return () => {
      stop();
      made.dispose();
      forbidStyles();
    };
  }, [path, label]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another ink is another theme
  useEffect(() => {
    if (terminal.current) terminal.current.options.theme = terminalTheme();
  }, [ink]);
  // the size is taken from the inner box, with its padding: it has none
  return (
    <div className={css["screen"]}>
      <div ref={box} className={css["inner"]} />
    </div>
  );
}

function makeTerminal(label: string, onLeave: () => void): Terminal {
  const made = new Terminal({
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono").trim() || "monospace",
    fontSize: 13,
    scrollback: SCROLLBACK,
    minimumContrastRatio: READABLE,
    cursorBlink: false,
    theme: terminalTheme(),
  });
  made.attachCustomKeyEventHandler((event) => {
    if (event.key === "F6") {
      if (event.type === "keydown") onLeave();
      return false;
    }
    const isCopy = event.ctrlKey && event.shiftKey && event.code === "KeyC";
    if (!isCopy || !made.hasSelection()) return true;
    event.preventDefault();
    if (event.type === "keydown") void copyText(made.getSelection());
    return false;
  });
  made.textarea?.setAttribute("aria-label", label);
  return made;
}

function run(
  terminal: Terminal,
  box: HTMLElement,
  path: string,
  onState: (state: LinkState) => void,
  onLink: (connect: () => void) => void,
): () => void {
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(box);
  fit.fit();
  const link = new TerminalLink({
    open: () => new WebSocket(addressOf(path)) as unknown as Socket,
    size: () => ({ columns: terminal.cols, rows: terminal.rows }),
    onOutput: (output) => terminal.write(output),
    onState,
  });
  terminal.onData((text) => link.type(text));
  terminal.onBinary((text) => link.typeBytes(text));
  terminal.onResize(() => link.resize());
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(box);
  onLink(() => {
    terminal.reset();
    link.connect();
    terminal.focus();
  });
  link.connect();
  terminal.focus();
  return () => {
    observer.disconnect();
    link.close();
  };
}

function addressOf(path: string): string {
  const { protocol, host } = window.location;
  return `${protocol === "https:" ? "wss:" : "ws:"}//${host}${path}`;
}
