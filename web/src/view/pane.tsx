// The pane beside the results: a preview of a document, or why it was found.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { only } from "../query/edit";
import { isFiles } from "../state/fields";
import { usePage } from "../state/page";
import type { DocumentKey } from "../text/keys";
import { CopyKey } from "./copy-key";
import { Icon } from "./icon";
import { Preview } from "./preview";
import { Shown } from "./shown";
import { Why } from "./why";

/** Names of archives, whose members are documents below `NAME!`. */
const ARCHIVE = /\.(zip|tar|tgz|tbz2|txz|7z|rar|jar|whl|tar\.\w+)$/i;

export function Pane({ of }: { of: DocumentKey }): JSX.Element {
  const { state, go, info } = usePage();
  const heading = useRef<HTMLHeadingElement>(null);
  const name = isFiles(info) ? of.text.slice(of.text.lastIndexOf("/") + 1) || of.text : of.text;
  useEffect(() => heading.current?.focus({ preventScroll: false }), [of.text, of.bytes, state.pane]);
  return (
    <aside class="pane" aria-label={state.pane === "why" ? "Why this hit" : "Preview"}>
      <header>
        <h2 ref={heading} tabIndex={-1}>
          <Shown text={name} />
        </h2>
        <button
          type="button"
          class="plain"
          aria-label="Close the pane"
          title="Close (Esc)"
          onClick={() => go({ open: null })}
        >
          <Icon name="close" />
        </button>
      </header>
      <p class="full">
        <Shown text={of.text} />
        <CopyKey of={of} label="Copy the whole name" />
      </p>
      <nav class="views" aria-label="Pane">
        <button
          type="button"
          aria-current={state.pane === "preview" ? "page" : undefined}
          onClick={() => go({ pane: "preview" })}
        >
          Preview
        </button>
        {state.like === null && (
          <button
            type="button"
            aria-current={state.pane === "why" ? "page" : undefined}
            onClick={() => go({ pane: "why" })}
          >
            Why this hit
          </button>
        )}
        {of.bytes === null && isFiles(info) && ARCHIVE.test(of.text) && (
          <button type="button" onClick={() => go({ q: only("", "path", `${of.text}!`), view: "results" })}>
            Members
          </button>
        )}
        {info.like && (
          <button type="button" onClick={() => go({ like: of, view: "results", open: null })}>
            More like this
          </button>
        )}
      </nav>
      <div class="pane-body">
        {state.pane === "why" && state.like === null ? <Why of={of} /> : <Preview of={of} />}
      </div>
    </aside>
  );
}
