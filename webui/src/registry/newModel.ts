// What a new model is made of, and making it. Rejects with the master's words, for the form that asks.
import { call } from "../api/client";
import type { Operations, Schemas } from "../api/schema";
import { queryClient } from "../api/useApi";
import { labelsOf } from "./labels";

export interface NewModel {
  name: string;
  workspaceId: number;
  description: string;
  /** As one line: "vision, demo". */
  labels: string;
}

const LISTS: (keyof Operations)[] = ["listModels", "listModelLabels"];

export function blankModel(workspaceId = 1): NewModel {
  return { name: "", workspaceId, description: "", labels: "" };
}

export async function createModel(draft: NewModel): Promise<Schemas["Model"]> {
  const { model } = await call("createModel", {
    body: {
      name: draft.name.trim(),
      workspaceId: draft.workspaceId,
      description: draft.description.trim(),
      labels: labelsOf(draft.labels),
    },
  });
  await Promise.all(LISTS.map((op) => queryClient.invalidateQueries({ queryKey: [op] })));
  return model;
}
