// A modal dialog: traps focus, closes on Escape, gives the focus back.
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Dialog as AriaDialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import { IconButton } from "./Button";
import { cx } from "./cx";
import { straight } from "./format";
import row from "./layout.module.css";
import css from "./overlay.module.css";

export interface DialogProps {
  title: string;
  children: ReactNode;
  actions?: ReactNode;
  onClose: () => void;
  isWide?: boolean | undefined;
  role?: "dialog" | "alertdialog" | undefined;
}

export function Dialog({ title, children, actions, onClose, isWide, role = "dialog" }: DialogProps) {
  return (
    <ModalOverlay className={cx(css["backdrop"])} isOpen isDismissable onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className={cx(css["modal"], isWide && css["wide"])}>
        <AriaDialog className={cx(css["dialog"])} role={role}>
          <div className={row["spread"]}>
            <Heading slot="title" level={2}>
              {straight(title)}
            </Heading>
            <IconButton label="Close" onPress={onClose}>
              <X size={16} aria-hidden="true" />
            </IconButton>
          </div>
          {children}
          {actions && <div className={css["actions"]}>{actions}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
