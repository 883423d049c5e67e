// A choice among many with typing to narrow it; may take words that are not in the list.
import { ChevronDown } from "lucide-react";
import { Button } from "react-aria-components/Button";
import { ComboBox as AriaComboBox } from "react-aria-components/ComboBox";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { ListBox, ListBoxItem } from "react-aria-components/ListBox";
import { Popover } from "react-aria-components/Popover";
import buttonCss from "./Button.module.css";
import { cx } from "./cx";
import css from "./field.module.css";
import overlay from "./overlay.module.css";
import type { Option } from "./Select";

export interface ComboBoxProps {
  label: string;
  /** The chosen id, or the typed words where `allowsCustom`. */
  value: string;
  options: readonly Option[];
  onChange: (id: string) => void;
  /** Told of every keystroke, for lists that come from the server. */
  onInput?: ((text: string) => void) | undefined;
  allowsCustom?: boolean | undefined;
  placeholder?: string | undefined;
  hidesLabel?: boolean | undefined;
  isDisabled?: boolean | undefined;
}

export function ComboBox(props: ComboBoxProps) {
  const { label, value, options, onChange, onInput, allowsCustom, placeholder, hidesLabel, isDisabled } = props;
  const isKnown = options.some((option) => option.id === value);
  return (
    <AriaComboBox
      className={cx(css["field"])}
      aria-label={label}
      selectedKey={isKnown ? value : null}
      {...(allowsCustom && !isKnown ? { defaultInputValue: value } : {})}
      allowsCustomValue={allowsCustom ?? false}
      isDisabled={isDisabled ?? false}
      menuTrigger="focus"
      onSelectionChange={(key) => key !== null && onChange(String(key))}
      onInputChange={(typed) => {
        onInput?.(typed);
        if (allowsCustom && !options.some((option) => option.label === typed)) onChange(typed);
      }}
    >
      <Label className={hidesLabel ? "visually-hidden" : cx(css["label"])}>{label}</Label>
      <div className={css["combo"]}>
        <Input className={cx(css["input"])} placeholder={placeholder ?? ""} />
        <Button className={cx(buttonCss["icon"])} aria-label={`Choices of ${label}`}>
          <ChevronDown size={14} aria-hidden="true" />
        </Button>
      </div>
      <Popover className={cx(overlay["popover"])}>
        <ListBox className={cx(overlay["list"])}>
          {options.map((option) => (
            <ListBoxItem
              key={option.id}
              id={option.id}
              textValue={option.label}
              className={cx(overlay["item"])}
              isDisabled={option.isDisabled ?? false}
            >
              {option.label}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaComboBox>
  );
}
