// The frame of a chart: its title, its controls, and its data as a table.

import type { ComponentChildren, JSX } from "preact";

export interface TableData {
  heads: string[];
  rows: (string | number)[][];
}

interface FigureProperties {
  title: ComponentChildren;
  controls?: ComponentChildren;
  table: TableData;
  children: ComponentChildren;
  busy?: boolean;
  kind: string;
}

export function Figure({
  title,
  controls,
  table,
  children,
  busy = false,
  kind,
}: FigureProperties): JSX.Element {
  return (
    <figure class={`chart ${kind}`} aria-busy={busy}>
      <figcaption>
        <span class="title">{title}</span>
        {controls}
      </figcaption>
      {children}
      <details class="data">
        <summary>Table</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label="Data of the chart">
          <table>
            <thead>
              <tr>
                {table.heads.map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows.map((row, at) => (
                <tr key={at}>
                  {row.map((cell, column) => (
                    <td key={column} class={typeof cell === "number" ? "number" : undefined}>
                      {typeof cell === "number" ? cell.toLocaleString("en-US") : cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
