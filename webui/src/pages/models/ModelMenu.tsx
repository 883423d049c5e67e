// The actions on a model behind one button of a row.
import { Ellipsis } from "lucide-react";
import { Menu } from "../../ui/Menu";
import { type Model, useModelActions } from "./useModelActions";

export function ModelMenu({ model }: { model: Model }) {
  const { actions, dialog } = useModelActions(model);
  return (
    <>
      <Menu label={`Actions on ${model.name}`} icon={<Ellipsis size={16} aria-hidden="true" />} items={actions} />
      {dialog}
    </>
  );
}
