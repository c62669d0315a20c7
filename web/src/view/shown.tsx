// Texts of documents on the screen: only ever text nodes, with hidden characters as visible escapes.

import type { JSX } from "preact";

import type { Snippet, Value } from "../api/types";
import { encode, stretches } from "../text/bytes";
import * as format from "../text/format";
import { pieces } from "../text/show";

/** A text. With `lines`, its line feeds and tabs stay. */
export function Shown({ text, lines = false }: { text: string; lines?: boolean }): JSX.Element {
  const parts = pieces(text, lines).map((piece, at) =>
    piece.escaped ? (
      <span key={at} class="escape" title="a character that cannot be seen">
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
  return <bdi>{parts}</bdi>;
}

/** A part of a document with its matches marked. */
export function SnippetText({ snippet }: { snippet: Snippet }): JSX.Element {
  const parts = stretches(encode(snippet.text), snippet.marks).map((stretch, at) => {
    const text = <Shown key={at} text={stretch.text} lines />;
    return stretch.marked ? <mark key={at}>{text}</mark> : text;
  });
  return <p class="snippet">{parts}</p>;
}

/** A value as text, by what its field holds. */
export function valueText(field: string, value: Value): string {
  if (value === null) return "";
  if (typeof value === "number") {
    if (format.isSize(field)) return format.size(value);
    if (field === "mode") return format.mode(value);
    return field.endsWith("year") || format.isNumber(field) ? String(value) : format.count(value);
  }
  if (typeof value === "boolean") return value ? "true" : "false";
  return /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(value) ? format.date(value) : value;
}

/** The exact value, where the shown one leaves something out. */
function exact(value: Value): string | undefined {
  return value === null || typeof value === "boolean" ? undefined : String(value);
}

/** All values of a field of a document. */
export function Values({ field, values }: { field: string; values: Value[] }): JSX.Element {
  return (
    <>
      {values.map((value, at) => {
        const text = valueText(field, value);
        return (
          <span key={at} class="value" title={text === String(value) ? undefined : exact(value)}>
            {at > 0 ? ", " : ""}
            <Shown text={text} />
          </span>
        );
      })}
    </>
  );
}
