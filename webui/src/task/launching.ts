// Starts a task by the operation of its kind.
import { call } from "../api/client";
import type { Schemas } from "../api/schema";
import type { FormKind } from "./kinds";

export interface Launch {
  config: Record<string, unknown>;
  workspaceId?: number;
  templateName?: string | null;
  experimentIds?: number[];
  trialIds?: number[];
  /** Of a notebook: with the code of its experiment and a first cell that loads it. */
  checkpointUuid?: string;
}

export interface Launched {
  id: string;
  name: string;
  /** Remarks on the configuration. */
  messages: string[];
}

export async function launchTask(kind: FormKind, launch: Launch): Promise<Launched> {
  const { task, messages } = await sent(kind, launch);
  return { id: task.id, name: task.description, messages: messages ?? [] };
}

interface Answer {
  task: Schemas["Command"];
  messages?: string[] | null | undefined;
}

async function sent(kind: FormKind, { experimentIds, trialIds, checkpointUuid, ...body }: Launch): Promise<Answer> {
  switch (kind) {
    case "command": {
      const answer = await call("launchCommand", { body });
      return { task: answer.command, messages: answer.messages };
    }
    case "shell": {
      const answer = await call("launchShell", { body });
      return { task: answer.shell, messages: answer.messages };
    }
    case "notebook": {
      const answer = await call("launchNotebook", { body: { ...body, checkpointUuid } });
      return { task: answer.notebook, messages: answer.messages };
    }
    case "tensorboard": {
      const answer = await call("launchTensorboard", { body: { ...body, experimentIds, trialIds } });
      return { task: answer.tensorboard, messages: answer.messages };
    }
  }
}
