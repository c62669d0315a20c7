// The table of growth: for each directory the sums before and after, the change, and its bar.

import type { JSX } from "preact";

import type { GrowthAnswer, Sums } from "../api/types";
import type { GrowthRow } from "../charts/growth";
import { difference, growthRows } from "../charts/growth";
import type { Measure } from "../state/url";
import * as format from "../text/format";
import type { DocumentKey } from "../text/keys";
import { visible } from "../text/show";
import { Shown } from "./shown";

const MEASURES: [Measure, string, (value: number) => string][] = [
  ["size", "size", format.size],
  ["count", "documents", format.count],
];

interface TableProperties {
  answer: GrowthAnswer;
  by: Measure;
  open: (path: DocumentKey, kind: string) => void;
}

export function GrowthTable({ answer, by, open }: TableProperties): JSX.Element {
  const rows = growthRows(answer.children, by);
  const { before, after } = answer.total;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table of growth">
      <table class={`changes by-${by}`}>
        <thead>
          <tr>
            <th scope="col" rowSpan={2}>
              directory
            </th>
            {MEASURES.map(([measure, name]) => (
              <th key={measure} class={`of-${measure} number`} scope="colgroup" colSpan={3}>
                {name}
              </th>
            ))}
          </tr>
          <tr>
            {MEASURES.flatMap(([measure]) =>
              ["before", "after", "change"].map((head) => (
                <th key={measure + head} class={`of-${measure} number`} scope="col">
                  {head}
                </th>
              )),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={`${row.node.kind} ${row.node.path_bytes ?? row.node.path}`}
              row={row}
              by={by}
              open={open}
            />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">all</th>
            <Cells before={before} after={after} change={difference(before, after)} />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

interface RowProperties {
  row: GrowthRow;
  by: Measure;
  open: (path: DocumentKey, kind: string) => void;
}

function Row({ row: { node, change, bar, mark }, by, open }: RowProperties): JSX.Element {
  const path = { text: node.path, bytes: node.path_bytes ?? null };
  const files = node.kind !== "directory";
  // A query cannot name a path that is not UTF-8, and finds nothing that is gone.
  const dead = files && (path.bytes !== null || node.after.count === 0);
  return (
    <tr>
      <th scope="row">
        <button
          type="button"
          class="link"
          title={visible(node.path)}
          disabled={dead}
          onClick={() => open(path, node.kind)}
        >
          <Shown text={files ? "files in it" : node.name} />
        </button>
        {mark !== null && <span class="mark"> {mark}</span>}
      </th>
      <Cells before={node.before} after={node.after} change={change} bar={bar} by={by} />
    </tr>
  );
}

interface CellsProperties {
  before: Sums;
  after: Sums;
  change: Sums;
  bar?: number;
  by?: Measure;
}

function Cells({ before, after, change, bar = 0, by }: CellsProperties): JSX.Element {
  return (
    <>
      {MEASURES.map(([measure, , text]) => (
        <Triple
          key={measure}
          measure={measure}
          texts={[before, after].map((sums) => amount(sums, measure, text))}
        >
          {measure === by && <Bar part={bar} />}
          <span class="amount">{format.change(change[measure], text)}</span>
        </Triple>
      ))}
    </>
  );
}

/** A sum; a dash where there is no document. */
function amount(sums: Sums, measure: Measure, text: (value: number) => string): string {
  return sums.count === 0 ? "–" : text(sums[measure]);
}

interface TripleProperties {
  measure: Measure;
  texts: string[];
  children: (JSX.Element | false)[];
}

function Triple({ measure, texts, children }: TripleProperties): JSX.Element {
  return (
    <>
      {texts.map((text, at) => (
        <td key={at} class={`of-${measure} number`}>
          {text}
        </td>
      ))}
      <td class={`of-${measure} number change`}>
        <span class="delta">{children}</span>
      </td>
    </>
  );
}

/** A bar that goes to the right for what grew, and to the left for what shrank. */
function Bar({ part }: { part: number }): JSX.Element {
  const width = `${50 * Math.abs(part)}%`;
  return (
    <span class="track" aria-hidden="true">
      <span class={part < 0 ? "fill shrunk" : "fill grown"} style={{ width }} />
    </span>
  );
}
