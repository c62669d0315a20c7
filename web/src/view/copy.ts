// Puts texts into the clipboard.

import type { DocumentKey } from "../text/keys";
import { keyBytes } from "../text/keys";
import { shellQuoteBytes } from "../text/quote";

/** Copies a text; false if the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** For pages that are not from a secure origin, where the clipboard has no other way in. */
function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  const focused = document.activeElement;
  area.value = text;
  area.className = "offscreen";
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}

/** What copying a name gives: its exact text, or a word for a shell if it is not UTF-8. */
export function copiedKey(key: DocumentKey): string {
  return key.bytes === null ? key.text : shellQuoteBytes(keyBytes(key));
}
