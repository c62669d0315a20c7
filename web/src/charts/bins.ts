// The bars of a histogram: which facet to ask, and how its buckets become bars without gaps.

import type { Bucket, FieldInfo } from "../api/types";
import type { Bounds } from "../query/edit";
import { dateText, parseDate, parseSize, sizeText } from "../query/units";
import * as format from "../text/format";

export type ChartKind = "date" | "size" | "every" | "number";

export interface Chart {
  field: string;
  kind: ChartKind;
}

/** A bar: documents with a value from `from` on and below `to`; `to` may be infinite. */
export interface Bin {
  from: number;
  to: number;
  count: number;
  label: string;
}

/** More bars than this are joined. */
const MOST_BARS = 72;
const BORING = new Set([
  "uid",
  "gid",
  "mode",
  "inode",
  "links",
  "device",
  "linked",
  "blocks",
  "depth",
  "sketch",
]);

function kindOf(field: FieldInfo): ChartKind | null {
  if (!field.column) return null;
  if (field.kind === "date") return "date";
  if (field.kind !== "unsigned") return null;
  if (field.name.endsWith("year")) return "every";
  return format.isSize(field.name) ? "size" : "number";
}

/** All fields that a histogram can show, the most telling first. */
export function chartable(fields: FieldInfo[]): Chart[] {
  const charts = fields.flatMap((field) => {
    const kind = BORING.has(field.name) ? null : kindOf(field);
    return kind === null ? [] : [{ field: field.name, kind }];
  });
  const rank = (chart: Chart): number =>
    chart.field === "mtime" ? 0 : ["date", "size", "every", "number"].indexOf(chart.kind) + 1;
  return charts.sort((one, other) => rank(one) - rank(other));
}

/** The histograms to show: those chosen, or one of dates and one of numbers. */
export function chartsOf(fields: FieldInfo[], asked: string[] | null): Chart[] {
  const all = chartable(fields);
  if (asked !== null) return asked.flatMap((name) => all.filter((chart) => chart.field === name));
  const dates = all.filter((chart) => chart.kind === "date").slice(0, 1);
  return [...dates, ...all.filter((chart) => chart.kind !== "date").slice(0, 2 - dates.length)];
}

/** The bounds of bars for numbers: 0, 1, and powers of two from 1,024 on for sizes, from 2 on for others. */
function edges(kind: ChartKind): number[] {
  const first = kind === "size" ? 10 : 1;
  const last = kind === "size" ? 50 : 40;
  return [0, 1, ...Array.from({ length: last - first + 1 }, (_, at) => 2 ** (first + at))];
}

/** The facet that counts the bars. */
export function chartFacet(chart: Chart): string {
  if (chart.kind === "date") return `${chart.field}:month`;
  if (chart.kind === "every") return `${chart.field}:every:1`;
  const bounds = edges(chart.kind).map((edge) => (chart.kind === "size" ? sizeText(edge) : String(edge)));
  const ranges = bounds.map((bound, at) => `${bound}..${bounds[at + 1] ?? ""}`);
  return `${chart.field}:ranges:${ranges.join(",")}`;
}

/** The bars of the buckets of `chartFacet`, without empty ones at both ends. */
export function bins(chart: Chart, buckets: Bucket[]): Bin[] {
  if (chart.kind === "date") return dateBins(buckets);
  if (chart.kind === "every") return everyBins(buckets);
  const bounds = edges(chart.kind);
  const counts = new Map(buckets.map((bucket) => [Number(bucket.from ?? 0), bucket.count]));
  const all = bounds.map((from, at) => {
    const to = bounds[at + 1] ?? Number.POSITIVE_INFINITY;
    return { from, to, count: counts.get(from) ?? 0, label: rangeLabel(chart.kind, from, to) };
  });
  const full = all.map((bin) => bin.count > 0);
  return full.includes(true) ? all.slice(full.indexOf(true), full.lastIndexOf(true) + 1) : [];
}

/** The values of a number's bar, for people. */
export function rangeLabel(kind: ChartKind, from: number, to: number): string {
  const text = kind === "size" ? format.size : format.count;
  if (to - from === 1)
    return from === 0 && kind === "size" ? "empty" : kind === "every" ? String(from) : text(from);
  return to === Number.POSITIVE_INFINITY ? `${text(from)} or more` : `${text(from)} to ${text(to)}`;
}

/** The first of `steps` that gives no more than `MOST_BARS`; bars begin at multiples of it. */
function barStep(steps: number[], least: number, greatest: number): number | undefined {
  return steps.find((step) => Math.floor(greatest / step) - Math.floor(least / step) < MOST_BARS);
}

function everyBins(buckets: Bucket[]): Bin[] {
  const counts = new Map(buckets.map((bucket) => [Number(bucket.value), bucket.count]));
  const years = [...counts.keys()].sort((one, other) => one - other);
  const [least, greatest] = [years[0], years.at(-1)];
  if (least === undefined || greatest === undefined) return [];
  const step = barStep([1, 2, 5, 10, 20, 50, 100, 1000], least, greatest) ?? 10000;
  const start = Math.floor(least / step) * step;
  const bars = Array.from({ length: Math.floor((greatest - start) / step) + 1 }, (_, at): Bin => {
    const from = start + at * step;
    return {
      from,
      to: from + step,
      count: 0,
      label: step === 1 ? String(from) : `${from} to ${from + step - 1}`,
    };
  });
  for (const [year, documents] of counts) {
    const bar = bars[Math.floor((year - start) / step)];
    if (bar) bar.count += documents;
  }
  return bars;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function monthLabel(month: number, step: number): string {
  const year = Math.floor(month / 12);
  if (step === 1) return `${MONTHS[month % 12] ?? ""} ${year}`;
  if (step === 3) return `${year}, quarter ${Math.floor((month % 12) / 3) + 1}`;
  return step === 12 ? String(year) : `${year} to ${year + step / 12 - 1}`;
}

function dateBins(buckets: Bucket[]): Bin[] {
  const counts = new Map<number, number>();
  for (const bucket of buckets) {
    const at = new Date(String(bucket.value));
    const month = at.getUTCFullYear() * 12 + at.getUTCMonth();
    if (Number.isFinite(month)) counts.set(month, (counts.get(month) ?? 0) + bucket.count);
  }
  const months = [...counts.keys()].sort((one, other) => one - other);
  const [least, greatest] = [months[0], months.at(-1)];
  if (least === undefined || greatest === undefined) return [];
  const step = barStep([1, 3, 12, 60, 120], least, greatest) ?? 1200;
  const start = Math.floor(least / step) * step;
  const bars = Array.from({ length: Math.floor((greatest - start) / step) + 1 }, (_, at): Bin => {
    const month = start + at * step;
    return {
      from: monthStart(month),
      to: monthStart(month + step),
      count: 0,
      label: monthLabel(month, step),
    };
  });
  for (const [month, documents] of counts) {
    const bar = bars[Math.floor((month - start) / step)];
    if (bar) bar.count += documents;
  }
  return bars;
}

/** The first moment of a month, counted from year 0. `Date.UTC` takes years below 100 for those of 1900. */
function monthStart(month: number): number {
  const at = new Date(0);
  at.setUTCFullYear(Math.floor(month / 12), month % 12, 1);
  return at.getTime();
}

/** The bounds of a query for the bars from `first` to `last`. */
export function boundsOfBins(chart: Chart, all: Bin[], first: number, last: number): Bounds | null {
  const from = all[Math.min(first, last)];
  const to = all[Math.max(first, last)];
  if (from === undefined || to === undefined) return null;
  const text = chart.kind === "date" ? dateText : chart.kind === "size" ? sizeText : String;
  return {
    from:
      from.from === 0 && chart.kind !== "date" && to.to !== Number.POSITIVE_INFINITY ? null : text(from.from),
    to: to.to === Number.POSITIVE_INFINITY ? null : text(to.to),
  };
}

/** The bars that bounds of a query cover: the first and the last one; null if there are none. */
export function binsOfBounds(chart: Chart, all: Bin[], bounds: Bounds | null): [number, number] | null {
  if (bounds === null) return null;
  const parse = (text: string): number | null =>
    chart.kind === "date" ? parseDate(text) : chart.kind === "size" ? parseSize(text) : Number(text);
  const from = bounds.from === null ? Number.NEGATIVE_INFINITY : parse(bounds.from);
  const to = bounds.to === null ? Number.POSITIVE_INFINITY : parse(bounds.to);
  if (from === null || to === null || Number.isNaN(from) || Number.isNaN(to)) return null;
  const covered = all.map((bin) => bin.from < to && bin.to > from);
  return covered.includes(true) ? [covered.indexOf(true), covered.lastIndexOf(true)] : null;
}
