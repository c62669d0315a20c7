// A button with a panel below it, which closes by Esc, by a click elsewhere, or when the focus leaves it.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { Icon } from "./icon";

interface MenuProperties {
  label: string;
  children: (close: () => void) => ComponentChildren;
  /** The panel is aligned with this side of the button. */
  side?: "left" | "right";
}

export function Menu({ label, children, side = "left" }: MenuProperties): JSX.Element {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event: Event): void => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("focusin", outside);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("focusin", outside);
    };
  }, [open]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !open) return;
    event.stopPropagation();
    close();
  };
  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button type="button" class="quiet" ref={button} aria-expanded={open} onClick={() => setOpen(!open)}>
        {label} <Icon name="down" />
      </button>
      {open && <div class={`panel ${side}`}>{children(close)}</div>}
    </div>
  );
}
