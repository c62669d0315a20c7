// A dialog over the page, which Esc closes.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { Icon } from "./icon";
import { Toast } from "./toast";

interface DialogProperties {
  title: string;
  close: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, close, children }: DialogProperties): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="dialog-body">
        <header>
          <h2 id="dialog-title">{title}</h2>
          <button type="button" class="plain" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </header>
        {children}
        <Toast />
      </div>
    </dialog>
  );
}
