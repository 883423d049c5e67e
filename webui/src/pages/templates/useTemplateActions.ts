// What can be done to templates. Those that a dialog asks for reject with the master's words.
import { call } from "../../api/client";
import type { Operations, Schemas } from "../../api/schema";
import { queryClient, useAct } from "../../api/useApi";
import { toast } from "../../ui/toast";

type Template = Schemas["Template"];
type Config = Record<string, unknown>;

const TEMPLATES: (keyof Operations)[] = ["listTemplates", "getTemplate"];

export function useTemplateActions() {
  const act = useAct();
  return {
    createTemplate,
    renameTemplate,
    saveConfig: (name: string, config: Config) =>
      act({
        label: `Saved ${name}`,
        run: () => call("patchTemplateConfig", { path: { template_name: name }, body: config }),
        invalidate: TEMPLATES,
      }),
    moveTemplate: ({ name, workspaceId }: Template, to: number) =>
      act({
        label: `Moved ${name}`,
        run: () => put(name, to),
        undo: () => put(name, workspaceId),
        invalidate: TEMPLATES,
      }),
    deleteTemplate: ({ name }: Template) =>
      act({
        label: `Deleted ${name}`,
        run: () => call("deleteTemplate", { path: { template_name: name } }),
        invalidate: ["listTemplates"],
      }),
  };
}

const put = (name: string, workspaceId: number) =>
  call("putTemplate", { path: { template_name: name }, body: { workspaceId } });

async function createTemplate(name: string, config: Config, workspaceId: number): Promise<void> {
  await call("createTemplate", { path: { template_name: name }, body: { name, config, workspaceId } });
  await refresh(`Created template ${name}`);
}

async function renameTemplate(oldName: string, newName: string): Promise<void> {
  await call("renameTemplate", { body: { oldName, newName } });
  await refresh(`Renamed to ${newName}`);
}

async function refresh(words: string): Promise<void> {
  await Promise.all(TEMPLATES.map((op) => queryClient.invalidateQueries({ queryKey: [op] })));
  toast({ text: words });
}
