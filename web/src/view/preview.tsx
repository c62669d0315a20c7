// A document in the pane at the side: its values, and its text as a table, as JSON, or as it is.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import * as api from "../api/client";
import type { DocumentAnswer, Value } from "../api/types";
import { useLatest } from "../state/latest";
import { usePage } from "../state/page";
import type { DocumentKey } from "../text/keys";
import { csvRows, prettyJson, separatorOf } from "../text/tables";
import { Notice } from "./notice";
import { Shown, Values } from "./shown";

/** Characters of a text that are shown at first. */
const FEW_CHARACTERS = 20_000;
const MOST_ROWS = 50;

export function Preview({ of }: { of: DocumentKey }): JSX.Element {
  const { state, info } = usePage();
  const [again, setAgain] = useState(0);
  const question = JSON.stringify([state.index, info.generation, of, again]);
  const { value, problem } = useLatest(question, (signal) => api.documentOf(state.index, of, signal));
  if (problem !== null) return <Notice problem={problem} retry={() => setAgain(again + 1)} />;
  if (value === null) return <p class="fine empty">…</p>;
  return (
    <>
      <Content document={value} />
      <Fields fields={value.fields} />
    </>
  );
}

function Fields({ fields }: { fields: Record<string, Value[]> }): JSX.Element {
  const isBytes = (name: string): boolean =>
    name.endsWith("_bytes") && name.slice(0, -"_bytes".length) in fields;
  const filled = Object.entries(fields).filter(([name, values]) => values.length > 0 && !isBytes(name));
  return (
    <table class="fields">
      <caption class="offscreen">Values of the document</caption>
      <tbody>
        {filled.map(([name, values]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <Values field={name} values={values} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Content({
  document: { key, content, text_error: error },
}: {
  document: DocumentAnswer;
}): JSX.Element {
  const [all, setAll] = useState(false);
  const [raw, setRaw] = useState(false);
  if (content === null) {
    const why = error ?? "The index does not have the text of this document.";
    return <p class={error === undefined ? "fine" : "fine warned"}>{why}</p>;
  }
  if (content === "") return <p class="fine">The text is empty.</p>;
  const separator = separatorOf(key, content);
  const json = separator === null ? prettyJson(key, content) : null;
  const formatted = separator !== null || json !== null;
  const text = !raw && json !== null ? json : content;
  const shown = all ? text : text.slice(0, FEW_CHARACTERS);
  return (
    <div class="content">
      {formatted && (
        <span class="switch" role="group" aria-label="Form of the text">
          <button type="button" aria-pressed={!raw} onClick={() => setRaw(false)}>
            {separator === null ? "JSON" : "table"}
          </button>
          <button type="button" aria-pressed={raw} onClick={() => setRaw(true)}>
            text
          </button>
        </span>
      )}
      {!raw && separator !== null ? (
        <Rows rows={csvRows(content, separator, MOST_ROWS + 1)} />
      ) : (
        <pre class="text" tabIndex={0} aria-label="Text of the document">
          <Shown text={shown} lines />
        </pre>
      )}
      {shown.length < text.length && (raw || separator === null) && (
        <button type="button" class="link" onClick={() => setAll(true)}>
          Show all {text.length.toLocaleString("en-US")} characters
        </button>
      )}
    </div>
  );
}

function Rows({ rows: [heads = [], ...rows] }: { rows: string[][] }): JSX.Element {
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="First rows of the table">
        <table>
          <thead>
            <tr>
              {heads.map((head, at) => (
                <th key={at} scope="col">
                  <Shown text={head} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {row.map((cell, column) => (
                  <td key={column}>
                    <Shown text={cell} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length >= MOST_ROWS && <p class="fine">The first {MOST_ROWS} rows</p>}
    </>
  );
}
