// One result: its name, values and snippets, and what can be done with it.

import type { JSX } from "preact";

import type { Hit } from "../api/types";
import { isFiles, shownFields, titleField } from "../state/fields";
import { usePage } from "../state/page";
import type { DocumentKey } from "../text/keys";
import { keyOf, sameKey } from "../text/keys";
import { visible } from "../text/show";
import { CopyKey } from "./copy-key";
import { Icon } from "./icon";
import { Directories, steps } from "./path";
import { Shown, SnippetText, Values } from "./shown";

/** The name that opens the preview: the last name of a path, a title, or the key. */
export function HitName({ hit }: { hit: Hit }): JSX.Element {
  const { info, go, state } = usePage();
  const key = keyOf(hit);
  const title = titleField(info);
  const titled = title === null ? undefined : hit.fields?.[title]?.[0];
  const name = isFiles(info) ? steps(hit.key).last || hit.key : String(titled ?? hit.key);
  const opened = sameKey(state.open, key);
  return (
    <button
      type="button"
      class="hit-name"
      data-hit
      aria-expanded={opened}
      title={visible(hit.key)}
      onClick={() => go({ open: opened && state.pane === "preview" ? null : key, pane: "preview" })}
    >
      <Shown text={name} />
    </button>
  );
}

/** Where a document is: the directories of a path, or the key of a record. */
export function HitPlace({ hit }: { hit: Hit }): JSX.Element | null {
  const { info } = usePage();
  if (isFiles(info)) return <Directories of={keyOf(hit)} />;
  return titleField(info) === null ? null : (
    <span class="path">
      <Shown text={hit.key} />
    </span>
  );
}

export function HitTools({ hit }: { hit: Hit }): JSX.Element {
  const { info, go, state } = usePage();
  const key = keyOf(hit);
  const noun = isFiles(info) ? "path" : "key";
  return (
    <span class="tools">
      <CopyKey of={key} label={`Copy the ${noun}`} />
      {info.like && (
        <button
          type="button"
          class="plain"
          title="More like this"
          aria-label="More like this"
          onClick={() => go({ like: key, view: "results" })}
        >
          <Icon name="like" />
        </button>
      )}
      {state.like === null && <WhyButton of={key} />}
    </span>
  );
}

function WhyButton({ of }: { of: DocumentKey }): JSX.Element {
  const { go } = usePage();
  return (
    <button
      type="button"
      class="plain"
      title="Why this hit"
      aria-label="Why this hit"
      onClick={() => go({ open: of, pane: "why" })}
    >
      <Icon name="why" />
    </button>
  );
}

/** A result with its values below its name. */
export function HitItem({ hit }: { hit: Hit }): JSX.Element {
  const { info, state } = usePage();
  const fields = shownFields(info, state).filter((name) => (hit.fields?.[name]?.length ?? 0) > 0);
  return (
    <li class={sameKey(state.open, keyOf(hit)) ? "hit opened" : "hit"} value={hit.rank}>
      <div class="hit-head">
        <HitName hit={hit} />
        <HitTools hit={hit} />
      </div>
      <HitPlace hit={hit} />
      {hit.snippets?.map((snippet, at) => (
        <SnippetText key={at} snippet={snippet} />
      ))}
      {hit.text_error !== undefined && <p class="fine warned">{hit.text_error}</p>}
      {fields.length > 0 && (
        <dl class="values">
          {fields.map((name) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Values field={name} values={hit.fields?.[name] ?? []} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}
