// Results as a table, for indexes of names and metadata: a line for each document, sorted by the heads.

import type { JSX } from "preact";

import type { Hit } from "../api/types";
import { descends, shownFields, sortable } from "../state/fields";
import { usePage } from "../state/page";
import { keyOf, sameKey } from "../text/keys";
import { HitName, HitPlace, HitTools } from "./hit";
import { Values } from "./shown";

export function HitTable({ hits }: { hits: Hit[] }): JSX.Element {
  const { info, state } = usePage();
  const fields = shownFields(info, state);
  return (
    <table class="hits">
      <thead>
        <tr>
          <Head name="key" label="name" />
          {fields.map((name) => (
            <Head key={name} name={name} label={name} />
          ))}
          <th scope="col">
            <span class="offscreen">actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {hits.map((hit) => (
          <tr key={hit.key_bytes ?? hit.key} class={sameKey(state.open, keyOf(hit)) ? "opened" : undefined}>
            <td class="name">
              <HitName hit={hit} />
              <HitPlace hit={hit} />
            </td>
            {fields.map((name) => (
              <td key={name} class={descends(info, name) ? "number" : undefined}>
                <Values field={name} values={hit.fields?.[name] ?? []} />
              </td>
            ))}
            <td>
              <HitTools hit={hit} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The head of a column: a click sorts by it, and another one the other way round. */
function Head({ name, label }: { name: string; label: string }): JSX.Element {
  const { info, state, go } = usePage();
  const numeric = descends(info, name) ? "number" : undefined;
  if (name !== "key" && !sortable(info).includes(name)) {
    return (
      <th scope="col" class={numeric}>
        {label}
      </th>
    );
  }
  const up = name === "key" ? "key" : `${name}:asc`;
  const down = name === "key" ? "-key" : `${name}:desc`;
  const first = descends(info, name) ? down : up;
  const sorted = state.sort === up ? "ascending" : state.sort === down ? "descending" : undefined;
  const next = state.sort === first ? (first === up ? down : up) : first;
  return (
    <th scope="col" class={numeric} aria-sort={sorted}>
      <button type="button" class="head" onClick={() => go({ sort: next })}>
        {label}
        <span class="arrow" aria-hidden="true">
          {sorted === "ascending" ? " ↑" : sorted === "descending" ? " ↓" : ""}
        </span>
      </button>
    </th>
  );
}
