// Counts the values of documents, as `--facet` of the command does.

import type { Bucket, FacetAnswer, Nested, Value } from "../../src/api/types";
import { parseDate, parseSize } from "../../src/query/units";
import type { FakeDocument } from "./documents";

/** A group of documents with its value or range. */
interface Group {
  bucket: Bucket;
  documents: FakeDocument[];
}

const values = (document: FakeDocument, field: string): Value[] => document.fields.get(field) ?? [];

function sum(documents: FakeDocument[], field: string): number {
  return documents.reduce(
    (total, document) =>
      total + values(document, field).reduce<number>((part, value) => part + Number(value), 0),
    0,
  );
}

function bound(text: string): number {
  return /^\d{4}-/.test(text) ? (parseDate(text) ?? Number.NaN) : (parseSize(text) ?? Number(text));
}

/** Numbers and dates of documents as numbers, kept because they are asked for again and again. */
const ordinals = new Map<string, WeakMap<FakeDocument, number>>();

const parsed = (value: Value | undefined): number =>
  typeof value === "string" ? Date.parse(value) : Number(value ?? Number.NaN);

function ordinal(document: FakeDocument, field: string): number {
  const known = ordinals.get(field) ?? new WeakMap<FakeDocument, number>();
  ordinals.set(field, known);
  let found = known.get(document);
  if (found === undefined) {
    found = parsed(values(document, field)[0]);
    known.set(document, found);
  }
  return found;
}

function ranges(documents: FakeDocument[], field: string, text: string): Group[] {
  const sides = (range: string): [string, string] => [range.split("..")[0] ?? "", range.split("..")[1] ?? ""];
  const groups = text.split(",").map((range) => {
    const [from, to] = sides(range);
    const side = (given: string): Value =>
      given === "" ? null : /^\d{4}-/.test(given) ? `${given}T00:00:00Z` : bound(given);
    const bounds = [from === "" ? -Infinity : bound(from), to === "" ? Infinity : bound(to)] as const;
    return {
      bounds,
      group: { bucket: { value: range, from: side(from), to: side(to), count: 0 }, documents: [] } as Group,
    };
  });
  for (const document of documents) {
    const at = ordinal(document, field);
    const found = groups.find(({ bounds: [from, to] }) => at >= from && at < to);
    found?.group.documents.push(document);
  }
  return groups.map(({ group }) => ({
    ...group,
    bucket: { ...group.bucket, count: group.documents.length },
  }));
}

function grouped(
  documents: FakeDocument[],
  of: (document: FakeDocument) => Value[],
): Map<Value, FakeDocument[]> {
  const groups = new Map<Value, FakeDocument[]>();
  for (const document of documents) {
    for (const value of of(document)) {
      const group = groups.get(value);
      if (group === undefined) groups.set(value, [document]);
      else group.push(document);
    }
  }
  return groups;
}

function byValue(groups: Map<Value, FakeDocument[]>): Group[] {
  const list = [...groups].map(([value, documents]) => ({
    bucket: { value, count: documents.length },
    documents,
  }));
  return list.sort((one, other) => (parsed(one.bucket.value) || 0) - (parsed(other.bucket.value) || 0));
}

function groupsOf(documents: FakeDocument[], field: string, how: string): Group[] {
  if (how.startsWith("ranges:")) return ranges(documents, field, how.slice(7));
  if (how === "month")
    return byValue(
      grouped(documents, (document) =>
        values(document, field).map((value) => `${String(value).slice(0, 7)}-01T00:00:00Z`),
      ),
    );
  if (how.startsWith("every:")) return byValue(grouped(documents, (document) => values(document, field)));
  const groups = byValue(grouped(documents, (document) => values(document, field)));
  const by = /by=sum\((\w+)\)/.exec(how)?.[1];
  const weight = (group: Group): number => (by === undefined ? group.bucket.count : sum(group.documents, by));
  return groups
    .sort((one, other) => weight(other) - weight(one))
    .slice(0, Number(/^\d+/.exec(how)?.[0] ?? 10));
}

/** The answer of one facet. */
export function facet(documents: FakeDocument[], text: string): FacetAnswer {
  const [first = "", ...inner] = text.split(" > ");
  const [field = "", ...rest] = first.split(":");
  const groups = groupsOf(documents, field, rest.join(":"));
  const buckets = groups.map(({ bucket, documents: inside }): Bucket =>
    inner.length === 0 ? bucket : { ...bucket, nested: nested(inside, inner.join(" > ")) },
  );
  const counted = groups.reduce((total, group) => total + group.bucket.count, 0);
  const missing = documents.filter((document) => values(document, field).length === 0).length;
  return {
    facet: text,
    buckets,
    other: Math.max(0, documents.length - missing - counted),
    missing,
    partial: false,
  };
}

function nested(documents: FakeDocument[], text: string): Nested {
  if (text.startsWith("sum:")) return { sum: sum(documents, text.slice(4)) };
  return facet(documents, text);
}
