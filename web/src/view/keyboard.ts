// The keys of the page.

import { useEffect } from "preact/hooks";

interface Actions {
  help: () => void;
  escape: () => void;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("input:not([type=checkbox]), textarea, select, dialog") !== null
  );
}

/** Moves the focus to the name of the next result, or of the one before. */
function move(step: 1 | -1): void {
  const names = [...document.querySelectorAll<HTMLElement>("[data-hit]")];
  const at = names.findIndex((name) => name.closest("li, tr")?.contains(document.activeElement));
  const next =
    at < 0 ? (step > 0 ? 0 : names.length - 1) : Math.min(names.length - 1, Math.max(0, at + step));
  names[next]?.focus();
  names[next]?.scrollIntoView({ block: "nearest" });
}

/** Listens to keys; the single ones only if `single` is true. */
export function useKeys(single: boolean, { help, escape }: Actions): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") {
        if (document.querySelector("dialog[open]") !== null) return;
        if (isTyping(event.target)) (event.target as HTMLElement).blur();
        else escape();
        return;
      }
      if (!single || isTyping(event.target)) return;
      const actions: Record<string, () => void> = {
        "/": () => document.querySelector<HTMLInputElement>("#q")?.select(),
        "?": help,
        j: () => move(1),
        k: () => move(-1),
      };
      const action = actions[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [single, help, escape]);
}
