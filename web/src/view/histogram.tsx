// Bars over time or over sizes; a stretch of them can be chosen as a condition.

import type { JSX } from "preact";

import type { Bin, Chart } from "../charts/bins";
import {
  bins,
  binsOfBounds,
  boundsOfBins,
  chartFacet,
  chartable,
  chartsOf,
  rangeLabel,
} from "../charts/bins";
import { boundsOf, setBounds } from "../query/edit";
import type { Aggregates } from "../state/aggregates";
import type { Latest } from "../state/latest";
import { usePage } from "../state/page";
import * as format from "../text/format";
import type { Stretch } from "./brush";
import { useBrush } from "./brush";
import { Figure } from "./figure";

/** Height of the highest bar, in units of the drawing. */
const HEIGHT = 100;

export function Histograms({ aggregates }: { aggregates: Latest<Aggregates> }): JSX.Element | null {
  const { state, info } = usePage();
  const charts = chartsOf(info.fields, state.charts);
  if (state.like !== null || charts.length === 0) return null;
  return (
    <div class="charts">
      {charts.map((chart) => (
        <Histogram key={chart.field} chart={chart} aggregates={aggregates} />
      ))}
    </div>
  );
}

function Histogram({ chart, aggregates }: { chart: Chart; aggregates: Latest<Aggregates> }): JSX.Element {
  const { state, go } = usePage();
  const answer = aggregates.value?.facets.get(chartFacet(chart));
  const all = bins(chart, answer?.buckets ?? []);
  const selected = binsOfBounds(chart, all, boundsOf(state.q, chart.field));
  const choose = (stretch: Stretch | null): void => {
    const bounds = stretch === null ? null : boundsOfBins(chart, all, stretch[0], stretch[1]);
    go({ q: setBounds(state.q, chart.field, bounds) });
  };
  const brush = useBrush(all.length, selected, choose);
  const table = { heads: [chart.field, "documents"], rows: all.map((bin) => [bin.label, bin.count]) };
  const { shown } = brush;
  return (
    <Figure
      kind="histogram"
      title={<ChartField chart={chart} />}
      table={table}
      busy={aggregates.loading}
      controls={
        <span class="chosen">
          {shown === null ? total(all) : stretchText(chart, all, shown)}
          {selected !== null && (
            <button type="button" class="link" onClick={() => choose(null)}>
              clear
            </button>
          )}
        </span>
      }
    >
      {all.length === 0 ? (
        <p class="fine empty">{answer === undefined ? "…" : "no values"}</p>
      ) : (
        <div class="bars" {...brush.pointer}>
          <Bars all={all} shown={shown} />
          <Handle handle={0} field={chart.field} all={all} shown={shown} onKey={brush.onKey} />
          <Handle handle={1} field={chart.field} all={all} shown={shown} onKey={brush.onKey} />
        </div>
      )}
      {all.length > 0 && <Axis all={all} />}
    </Figure>
  );
}

/** The name of the field, or a choice if others could be shown instead. */
function ChartField({ chart }: { chart: Chart }): JSX.Element {
  const { state, info, go } = usePage();
  const charts = chartsOf(info.fields, state.charts);
  const others = chartable(info.fields).filter((other) => !charts.some((each) => each.field === other.field));
  if (others.length === 0) return <>{chart.field}</>;
  const change = (name: string): void =>
    go({ charts: charts.map((each) => (each.field === chart.field ? name : each.field)) }, true);
  return (
    <select
      aria-label="Field of the chart"
      value={chart.field}
      onChange={(event) => change(event.currentTarget.value)}
    >
      {[chart, ...others].map((each) => (
        <option key={each.field}>{each.field}</option>
      ))}
    </select>
  );
}

function total(all: Bin[]): string {
  const [first, last] = [all[0], all.at(-1)];
  if (first === undefined || last === undefined) return "";
  return first === last ? first.label : "drag to choose";
}

/** What is chosen, in words: "1 MiB to 1 GiB: 550". */
function stretchText({ kind }: Chart, all: Bin[], [at, end]: Stretch): string {
  const documents = all.slice(at, end + 1).reduce((sum, bin) => sum + bin.count, 0);
  const [first, last] = [all[at], all[end]];
  if (first === undefined || last === undefined) return "";
  const dates = first === last ? first.label : `${first.label} to ${last.label}`;
  const years = first.from === last.to - 1 ? String(first.from) : `${first.from} to ${last.to - 1}`;
  const range = kind === "date" ? dates : kind === "every" ? years : rangeLabel(kind, first.from, last.to);
  return `${range}: ${format.count(documents)}`;
}

/** The height of a bar. Few documents remain visible beside many. */
function height(count: number, most: number): number {
  return count === 0 ? 0 : Math.max(3, HEIGHT * Math.sqrt(count / most));
}

function Bars({ all, shown }: { all: Bin[]; shown: Stretch | null }): JSX.Element {
  const most = Math.max(1, ...all.map((bin) => bin.count));
  return (
    <svg
      viewBox={`0 0 ${all.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      {shown !== null && (
        <rect class="stretch" x={shown[0]} y={0} width={shown[1] - shown[0] + 1} height={HEIGHT} />
      )}
      {all.map((bin, at) => {
        const tall = height(bin.count, most);
        const out = shown !== null && (at < shown[0] || at > shown[1]);
        return (
          <g key={at} class={out ? "bar out" : "bar"}>
            <rect class="back" x={at} y={0} width={1} height={HEIGHT} />
            <rect x={at + 0.08} y={HEIGHT - tall} width={0.84} height={tall} />
            <title>{`${bin.label}: ${format.count(bin.count)}`}</title>
          </g>
        );
      })}
    </svg>
  );
}

interface HandleProperties {
  handle: 0 | 1;
  field: string;
  all: Bin[];
  shown: Stretch | null;
  onKey: (handle: 0 | 1, event: KeyboardEvent) => void;
}

/** One end of the chosen stretch, which keys move. */
function Handle({ handle, field, all, shown, onKey }: HandleProperties): JSX.Element {
  const at = shown?.[handle] ?? (handle === 0 ? 0 : all.length - 1);
  const place = { left: `${(100 * (at + handle)) / all.length}%` };
  return (
    <div
      class={shown === null ? "handle idle" : "handle"}
      role="slider"
      tabIndex={0}
      style={place}
      aria-label={`${field} ${handle === 0 ? "from" : "to"}`}
      aria-valuemin={0}
      aria-valuemax={all.length - 1}
      aria-valuenow={at}
      aria-valuetext={all[at]?.label ?? ""}
      onKeyDown={(event) => onKey(handle, event)}
    />
  );
}

function Axis({ all }: { all: Bin[] }): JSX.Element {
  const middle = all.length > 4 ? all[Math.floor(all.length / 2)]?.label : undefined;
  const short = (label: string): string => label.replace(/ to .*$| or more$|, quarter .$/, "");
  return (
    <div class="axis" aria-hidden="true">
      <span>{short(all[0]?.label ?? "")}</span>
      {middle !== undefined && <span>{short(middle)}</span>}
      {all.length > 1 && <span>{short(all.at(-1)?.label ?? "")}</span>}
    </div>
  );
}
