/** Modal dialogs: real `<dialog>` elements, so focus, Escape and the backdrop are the browser's. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Button, IconButton } from "./button.tsx";
import { Problem } from "./fields.tsx";
import { components } from "./messages.ts";
import { Toasts } from "./toasts.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons at the end. */
  footer?: ComponentChildren;
  isWide?: boolean;
}

/** Open as long as it is rendered. */
export function Dialog({ title, onClose, children, footer, isWide }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current!.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class={isWide ? "wide" : ""} aria-labelledby={id} onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && event.currentTarget.close()}>
      <div class="dialog-body">
        <header>
          <h2 id={id}>{title}</h2>
          <IconButton icon="cross" label={components().close} onClick={onClose} />
        </header>
        {children}
        {footer && <footer>{footer}</footer>}
      </div>
      <Toasts />
    </dialog>
  );
}

interface ConfirmProps {
  /** A question that names what and how many: "Delete 37 sources?" */
  title: string;
  /** What follows, and whether it can be undone. */
  children: ComponentChildren;
  /** The verb, with the number: "Delete 37 sources". */
  action: string;
  isDangerous?: boolean;
  /** What to type before the button works, for what cannot be undone and is large. */
  typed?: string;
  /** Runs the action; the dialog shows its failure, or closes. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

export function ConfirmDialog({ title, children, action, isDangerous, typed, onConfirm, onClose }: ConfirmProps) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [entered, setEntered] = useState("");
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  const footer = (
    <>
      <Button onClick={onClose}>{components().cancel}</Button>
      <Button kind={isDangerous ? "danger" : "primary"} isBusy={isBusy} disabled={typed !== undefined && entered !== typed} onClick={confirm}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} footer={footer}>
      {children}
      {typed !== undefined && (
        <label class="field">
          <span>{components().typeToConfirm(typed)}</span>
          <input value={entered} onInput={(event) => setEntered(event.currentTarget.value)} autocomplete="off" />
        </label>
      )}
      {error !== undefined && <Problem error={error} />}
    </Dialog>
  );
}
