// The table of owners and ages: who keeps how much that is how old. A cell filters.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import * as api from "../api/client";
import type { Bucket, IndexInfo } from "../api/types";
import { AGES, ageBounds, ageFacet } from "../charts/ages";
import { only, setBounds } from "../query/edit";
import { useLatest } from "../state/latest";
import { usePage } from "../state/page";
import type { Measure } from "../state/url";
import * as format from "../text/format";
import { Measures } from "./map";
import { Notice } from "./notice";
import { Shown } from "./shown";

const MOST_OWNERS = 25;

/** The fields of the table: an owner and a date; null if the index lacks one. */
export function ownerFields(info: IndexInfo): { owner: string; date: string } | null {
  const has = (name: string): boolean => info.fields.some((field) => field.name === name && field.column);
  return info.sizes && has("owner") && has("mtime") ? { owner: "owner", date: "mtime" } : null;
}

interface Row {
  owner: string;
  askable: boolean;
  /** One for each class of age, the newest first. */
  cells: { count: number; size: number }[];
}

function rows(buckets: Bucket[]): Row[] {
  return buckets.map((bucket) => {
    const ages = bucket.nested?.buckets ?? [];
    const cell = (age: Bucket | undefined): Row["cells"][number] => ({
      count: age?.count ?? 0,
      size: Number(age?.nested?.sum ?? 0),
    });
    const cells = AGES.map((_, at) => cell(ages[at]));
    return { owner: String(bucket.value), askable: typeof bucket.value_bytes !== "string", cells };
  });
}

const sum = (cells: Row["cells"], by: Measure): number => cells.reduce((all, cell) => all + cell[by], 0);

export function Owners(): JSX.Element {
  const { state, go, info } = usePage();
  const [again, setAgain] = useState(0);
  const [now] = useState(() => Date.now());
  const fields = ownerFields(info);
  const facet =
    fields === null
      ? ""
      : `${fields.owner}:${MOST_OWNERS}:by=sum(size) > ${ageFacet(fields.date, now)} > sum:size`;
  const question =
    fields === null ? null : JSON.stringify([state.index, info.generation, state.q, facet, again]);
  const { value, problem, loading } = useLatest(question, (signal) =>
    api.search(
      state.index,
      { q: state.q === "" ? "*" : state.q, limit: 0, count: false, facet: [facet] },
      signal,
    ),
  );
  if (fields === null)
    return (
      <p class="fine empty">
        The documents of this index have no owners, sizes and dates of files, which this view counts. An index
        of directories has them: scanns index -o files.scanns DIRECTORY.
      </p>
    );
  if (problem !== null) return <Notice problem={problem} retry={() => setAgain(again + 1)} />;
  if (value === null) return <p class="fine empty">…</p>;
  const all = rows(value.facets?.[0]?.buckets ?? []);
  const by = state.by;
  const bounds = ageBounds(now);
  const ask = (owner: string, age: number | null): void => {
    const q = only(state.q, fields.owner, owner);
    go({ q: age === null ? q : setBounds(q, fields.date, bounds[age] ?? null), view: "results" });
  };
  return (
    <section class="owners" aria-busy={loading} aria-label="Owners and ages">
      <p class="owners-head">
        <span>By owner and by the age of {fields.date}, the documents of the query</span>
        <Measures by={by} choose={(each) => go({ by: each })} />
      </p>
      {value.partial && <p class="fine warned">Time was up: these sums are too low.</p>}
      <OwnerTable all={all} by={by} ask={ask} />
      {(value.facets?.[0]?.other ?? 0) > 0 && (
        <p class="fine">{format.count(value.facets?.[0]?.other ?? 0)} documents of other owners</p>
      )}
    </section>
  );
}

interface TableProperties {
  all: Row[];
  by: Measure;
  ask: (owner: string, age: number | null) => void;
}

function OwnerTable({ all, by, ask }: TableProperties): JSX.Element {
  const text = by === "size" ? format.size : format.count;
  const most = Math.max(1, ...all.flatMap((row) => row.cells.map((cell) => cell[by])));
  const totals = AGES.map((_, at) => all.reduce((total, row) => total + (row.cells[at]?.[by] ?? 0), 0));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table of owners and ages">
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">owner</th>
            {AGES.map((age) => (
              <th key={age.name} scope="col">
                {age.name}
              </th>
            ))}
            <th scope="col">all</th>
          </tr>
        </thead>
        <tbody>
          {all.map((row) => (
            <tr key={row.owner}>
              <th scope="row">
                <button
                  type="button"
                  class="link"
                  disabled={!row.askable}
                  onClick={() => ask(row.owner, null)}
                >
                  <Shown text={row.owner} />
                </button>
              </th>
              {row.cells.map((cell, at) => (
                <td key={at}>
                  <button
                    type="button"
                    class="cell"
                    disabled={!row.askable || cell.count === 0}
                    title={`${AGES[at]?.name}: ${format.size(cell.size)} in ${format.count(cell.count)}`}
                    onClick={() => ask(row.owner, at)}
                  >
                    <span class="fill" style={{ width: `${100 * Math.sqrt(cell[by] / most)}%` }} />
                    <span class="amount">{cell.count === 0 ? "–" : text(cell[by])}</span>
                  </button>
                </td>
              ))}
              <td class="number">{text(sum(row.cells, by))}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">all</th>
            {totals.map((total, at) => (
              <td key={at} class="number">
                {text(total)}
              </td>
            ))}
            <td class="number">{text(totals.reduce((one, other) => one + other, 0))}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
