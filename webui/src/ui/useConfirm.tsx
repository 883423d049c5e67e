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
}

export interface Confirm {
  confirm: (question: Question) => Promise<boolean>;
  /** `what` names the thing or things: "experiment 41", "12 trials". */
  confirmKill: (what: string, count?: number) => Promise<boolean>;
  confirmDelete: (what: string, count?: number) => Promise<boolean>;
}

const ConfirmContext = createContext<Confirm | null>(null);

export function useConfirm(): Confirm {
  const confirm = useContext(ConfirmContext);
  if (!confirm) throw new Error("useConfirm was called outside ConfirmProvider");
  return confirm;
}

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<{ question: Question; answer: (yes: boolean) => void } | null>(null);
  const confirm = useCallback(
    (question: Question) => new Promise<boolean>((answer) => setAsked({ question, answer })),
    [],
  );
  const value = useMemo(() => withVerbs(confirm), [confirm]);
  const close = (yes: boolean) => {
    asked?.answer(yes);
    setAsked(null);
  };
  return (
    <ConfirmContext value={value}>
      {children}
      {asked && <Ask question={asked.question} onAnswer={close} />}
    </ConfirmContext>
  );
}

function withVerbs(confirm: Confirm["confirm"]): Confirm {
  return {
    confirm,
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

function Ask({ question, onAnswer }: { question: Question; onAnswer: (yes: boolean) => void }) {
  const [typed, setTyped] = useState("");
  const { typedCount = 1 } = question;
  const mayGo = typedCount <= 1 || typed.trim() === String(typedCount);
  return (
    <Dialog
      title={question.title}
      role="alertdialog"
      onClose={() => onAnswer(false)}
      actions={
        <>
          <Button onPress={() => onAnswer(false)}>Cancel</Button>
          <Button kind={question.isDanger ? "danger" : "primary"} isDisabled={!mayGo} onPress={() => onAnswer(true)}>
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
          onSubmit={() => mayGo && onAnswer(true)}
        />
      )}
    </Dialog>
  );
}
