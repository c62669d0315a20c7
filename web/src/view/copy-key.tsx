// The button that copies the name of a document or of an input.

import type { JSX } from "preact";

import { usePage } from "../state/page";
import type { DocumentKey } from "../text/keys";
import { copiedKey, copyText } from "./copy";
import { Icon } from "./icon";

/** Copies the exact name, or a word for a shell if it is not UTF-8, and says so. */
export function CopyKey({ of, label }: { of: DocumentKey; label: string }): JSX.Element {
  const { say } = usePage();
  const copy = async (): Promise<void> => {
    const done = await copyText(copiedKey(of));
    const what = of.bytes === null ? "copied" : "copied, quoted for a shell";
    say(done ? what : "the browser does not allow copying");
  };
  return (
    <button type="button" class="plain" title={label} aria-label={label} onClick={() => void copy()}>
      <Icon name="copy" />
    </button>
  );
}
