// Asks before killing or deleting. Deleting several asks for their number to be typed.
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { TextField } from "./TextField";

export interface Question {
  title: string;
  text: ReactNode;
  /** The word on the button: "Kill", "Delete". */
  verb: string;
  /** More than one: the number must be typed. */
  typedCount?: number | undefined;
  isDanger?: boolean | undefined;
  /** Another thing that may be meant, beside the verb. */
  other?: string | undefined;
}

export type StopWay = "cancel" | "kill";

export interface Confirm {
  confirm: (question: Question) => Promise<boolean>;
  /** `what` names the thing or things: "experiment 41", "12 trials". */
  confirmKill: (what: string, count?: number) => Promise<boolean>;
  confirmDelete: (what: string, count?: number) => Promise<boolean>;
  /** With a last checkpoint, without one, or null: not at all. */
  confirmStop: (what: string, isPaused?: boolean) => Promise<StopWay | null>;
}

type Answer = "yes" | "other" | null;

const ConfirmContext = createContext<Confirm | null>(null);

export function useConfirm(): Confirm {
  const confirm = useContext(ConfirmContext);
  if (!confirm) throw new Error("useConfirm was called outside ConfirmProvider");
  return confirm;
}

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<{ question: Question; answer: (given: Answer) => void } | null>(null);
  const ask = useCallback((question: Question) => new Promise<Answer>((answer) => setAsked({ question, answer })), []);
  const value = useMemo(() => withVerbs(ask), [ask]);
  const close = (given: Answer) => {
    asked?.answer(given);
    setAsked(null);
  };
  return (
    <ConfirmContext value={value}>
      {children}
      {asked && <Ask question={asked.question} onAnswer={close} />}
    </ConfirmContext>
  );
}

/** What is paused has saved already, if it saves at all: there is no choice to offer. */
function stopPaused(what: string): Question {
  return {
    title: `Stop ${what}?`,
    text: "It ends and cannot be activated again. With a checkpoint it can be continued from there.",
    verb: "Stop",
  };
}

function withVerbs(ask: (question: Question) => Promise<Answer>): Confirm {
  const confirm: Confirm["confirm"] = async (question) => (await ask(question)) === "yes";
  return {
    confirm,
    confirmStop: async (what, isPaused = false) => {
      if (isPaused) return (await confirm(stopPaused(what))) ? "cancel" : null;
      const given = await ask({
        title: `Stop ${what}?`,
        text: "It ends and cannot be activated again. With a checkpoint it can be continued from where it is now.",
        verb: "Save a checkpoint, then stop",
        other: "Stop now without one",
      });
      return given === null ? null : given === "yes" ? "cancel" : "kill";
    },
    confirmKill: (what, count = 1) =>
      confirm({
        title: `Kill ${what}?`,
        text: "It ends at once, without a last checkpoint. This cannot be undone.",
        verb: "Kill",
        typedCount: count,
        isDanger: true,
      }),
    confirmDelete: (what, count = 1) =>
      confirm({
        title: `Delete ${what}?`,
        text: "Its records, logs and checkpoints are removed. This cannot be undone.",
        verb: "Delete",
        typedCount: count,
        isDanger: true,
      }),
  };
}

function Ask({ question, onAnswer }: { question: Question; onAnswer: (given: Answer) => void }) {
  const [typed, setTyped] = useState("");
  const { typedCount = 1 } = question;
  const mayGo = typedCount <= 1 || typed.trim() === String(typedCount);
  return (
    <Dialog
      title={question.title}
      role="alertdialog"
      onClose={() => onAnswer(null)}
      actions={
        <>
          <Button onPress={() => onAnswer(null)}>Cancel</Button>
          {question.other !== undefined && (
            <Button kind="danger" onPress={() => onAnswer("other")}>
              {question.other}
            </Button>
          )}
          <Button kind={question.isDanger ? "danger" : "primary"} isDisabled={!mayGo} onPress={() => onAnswer("yes")}>
            {question.verb}
          </Button>
        </>
      }
    >
      <div>{question.text}</div>
      {typedCount > 1 && (
        <TextField
          label={`Type ${typedCount} to confirm`}
          autoFocus
          value={typed}
          onChange={setTyped}
          onSubmit={() => mayGo && onAnswer("yes")}
        />
      )}
    </Dialog>
  );
}
