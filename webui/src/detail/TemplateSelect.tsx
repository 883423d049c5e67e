// A template by name: what is laid under the configuration of a form.
import { useApi } from "../api/useApi";
import { Select } from "../ui/Select";

/** Empty: none. */
export function TemplateSelect({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  const templates = useApi("listTemplates", { query: { limit: 2000 } }, { staleTime: 30_000 });
  const names = (templates.data?.templates ?? []).map(({ name }) => ({ id: name, label: name }));
  const isUnknown = value !== "" && !names.some(({ id }) => id === value);
  const options = [{ id: "", label: "no template" }, ...names, ...(isUnknown ? [{ id: value, label: value }] : [])];
  return <Select label="Template" value={value} options={options} onChange={onChange} />;
}
