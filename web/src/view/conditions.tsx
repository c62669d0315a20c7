// The conditions of the query as labels that can be removed, and what may be meant by misspelt words.

import type { JSX } from "preact";

import type { DidYouMean as Meant } from "../api/types";
import { conditions, excludes } from "../query/clauses";
import { removeClause } from "../query/edit";
import { usePage } from "../state/page";
import * as format from "../text/format";
import { visible } from "../text/show";
import { Icon } from "./icon";
import { Shown } from "./shown";

export function Conditions(): JSX.Element | null {
  const { state, go, info } = usePage();
  const names = new Set(info.fields.map((field) => field.name));
  const found = conditions(state.q).filter((clause) => names.has(clause.field ?? ""));
  if (found.length === 0 && state.like === null) return null;
  return (
    <ul class="conditions" aria-label="Conditions">
      {state.like !== null && (
        <li class="condition">
          <span class="field">like</span>
          <Shown text={state.like.text} />
          <button
            type="button"
            class="plain"
            aria-label="Stop showing documents like this one"
            onClick={() => go({ like: null })}
          >
            <Icon name="close" />
          </button>
        </li>
      )}
      {found.map((clause) => (
        <li key={clause.start} class={excludes(clause) ? "condition not" : "condition"}>
          <span class="field">{excludes(clause) ? `not ${clause.field}` : clause.field}</span>
          <Shown text={clause.value} />
          <button
            type="button"
            class="plain"
            aria-label={`Remove the condition ${visible(`${clause.field}:${clause.value}`)}`}
            onClick={() => go({ q: removeClause(state.q, clause) })}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Which words are in no document, or in a few. */
function misspelt(meant: Meant): string {
  const words = meant.changed.map(([word]) => `“${visible(word)}”`).join(", ");
  const most = Math.max(0, ...meant.counts.map(([count]) => count));
  if (most === 0) return `No document contains ${words}.`;
  const documents = most === 1 ? "document contains" : "documents contain";
  return `${meant.changed.length === 1 ? "Only" : "At most"} ${format.count(most)} ${documents} ${words}.`;
}

/** The query that may be meant, to be clicked. */
export function DidYouMean({ meant }: { meant: Meant | null }): JSX.Element | null {
  const { go } = usePage();
  if (meant === null) return null;
  return (
    <p class="meant" role="status">
      {misspelt(meant)} Did you mean{" "}
      <button type="button" class="link" onClick={() => go({ q: meant.text })}>
        <Shown text={meant.text} />
      </button>
      ?
    </p>
  );
}
