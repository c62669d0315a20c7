// A button with a panel below it, which closes by Esc, by a click elsewhere, or when the focus leaves it.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { Icon } from "./icon";

interface MenuProperties {
  label: string;
  children: (close: () => void) => ComponentChildren;
  /** The panel is aligned with this side of the button. */
  side?: "left" | "right";
  disabled?: boolean;
}

/** The least space between a panel and the edge of the window, and the least height of a panel. */
const GAP = 8;
const LEAST_HEIGHT = 160;

/** Moves a panel into the window. */
function fit(panel: HTMLElement): void {
  panel.style.translate = "";
  const { left, right, top } = panel.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const inward = Math.min(0, width - GAP - right);
  panel.style.translate = `${Math.max(inward, GAP - left)}px 0`;
  panel.style.maxHeight = `${Math.max(LEAST_HEIGHT, innerHeight - Math.max(0, top) - GAP)}px`;
}

export function Menu({ label, children, side = "left", disabled = false }: MenuProperties): JSX.Element {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
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
  const shown = open && !disabled;
  useLayoutEffect(() => {
    if (!shown) return undefined;
    const place = (): void => {
      if (panel.current !== null) fit(panel.current);
    };
    place();
    addEventListener("resize", place);
    return () => removeEventListener("resize", place);
  }, [shown]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !open) return;
    event.stopPropagation();
    close();
  };
  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="quiet"
        ref={button}
        aria-expanded={shown}
        disabled={disabled}
        onClick={() => setOpen(!open)}
      >
        {label} <Icon name="down" />
      </button>
      {shown && (
        <div class={`panel ${side}`} ref={panel}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
