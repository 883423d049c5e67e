// A model by its name: the master is asked as one types, for models that take versions.
import { useDeferredValue, useState } from "react";
import { useApi } from "../api/useApi";
import { ComboBox } from "../ui/ComboBox";
import { ErrorCard } from "../ui/ErrorCard";

export interface PickedModel {
  id: number;
  name: string;
}

interface ModelPickerProps {
  picked: PickedModel | null;
  onPick: (model: PickedModel) => void;
}

const MOST = 50;

export function ModelPicker({ picked, onPick }: ModelPickerProps) {
  const [typed, setTyped] = useState(picked?.name ?? "");
  const name = useDeferredValue(typed.trim());
  const found = useApi(
    "listModels",
    {
      query: {
        name: name || undefined,
        archived: false,
        sortBy: "SORT_BY_LAST_UPDATED_TIME",
        orderBy: "ORDER_BY_DESC",
        limit: MOST,
      },
    },
    { keepPrevious: true },
  );
  const models = found.data?.models ?? [];
  // what was picked stays a choice while other words are typed
  const shown = picked && !models.some(({ id }) => id === picked.id) ? [picked, ...models] : models;
  const isNone = found.data !== undefined && shown.length === 0;
  return (
    <>
      {found.error && <ErrorCard error={found.error} onRetry={found.refetch} />}
      <ComboBox
        label="Model"
        value={String(picked?.id ?? "")}
        options={shown.map((one) => ({ id: String(one.id), label: one.name }))}
        onInput={setTyped}
        onChange={(id) => {
          const model = shown.find((one) => String(one.id) === id);
          if (model) onPick({ id: model.id, name: model.name });
        }}
        placeholder="Type a part of its name"
      />
      {isNone && (
        <p role="status">
          {name === "" ? "There is no model that takes versions yet." : "No model that takes versions has this name."}
        </p>
      )}
    </>
  );
}
