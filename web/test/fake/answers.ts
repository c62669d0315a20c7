// The answers of the fake server, in the form of the API.

import type {
  Explanation,
  Hit,
  IndexInfo,
  SearchAnswer,
  Snippet,
  SuggestAnswer,
  UsageAnswer,
  UsageNode,
  Value,
} from "../../src/api/types";
import { decode } from "../../src/text/bytes";
import type { FakeDocument, FakeIndex } from "./documents";
import { NOW } from "./documents";
import { facet } from "./facets";
import { parse, searchedText } from "./query";

/** Parameters of a request; lists are several values. */
export interface Given {
  one: (name: string) => string | null;
  many: (name: string) => string[];
}

const INCOMPLETE = {
  text: "340 paths could not be read, such as /data/<b>broken</b>\u202e.h5; see scanns info --completeness",
  unread: 340,
  complete: false,
};

export function info(index: FakeIndex): IndexInfo {
  return {
    name: index.name,
    generation: 7,
    committed: new Date(NOW - index.ageSeconds * 1000).toISOString(),
    age_seconds: index.ageSeconds,
    documents: index.documents.length,
    fields: index.fields,
    completeness: index.complete ? null : INCOMPLETE,
    snippets: index.snippets,
    like: index.like,
    entries: !index.snippets,
    sizes: index.fields.some((field) => field.name === "size"),
  };
}

interface Ranked {
  document: FakeDocument;
  score: number;
}

function score(document: FakeDocument, words: string[]): number {
  if (words.length === 0) return 1;
  const text = searchedText(document).toLowerCase();
  const occurrences = words.map((word) => text.split(word.replaceAll(/[*?~]/g, "")).length - 1);
  return occurrences.reduce((sum, count) => sum + count / (count + 1.2), 0);
}

const first = (document: FakeDocument, field: string): Value => document.fields.get(field)?.[0] ?? null;

function compare(one: Value, other: Value): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1;
  return one < other ? -1 : 1;
}

function sorted(hits: Ranked[], sort: string): Ranked[] {
  if (sort === "" || sort === "score") return hits.sort((one, other) => other.score - one.score);
  if (sort === "key") return hits.sort((one, other) => one.document.key.compare(other.document.key));
  if (sort === "-key") return hits.sort((one, other) => other.document.key.compare(one.document.key));
  const [field = "", direction] = sort.split(":");
  const sign = direction === "desc" ? -1 : 1;
  return hits.sort((one, other) => {
    const [a, b] = [first(one.document, field), first(other.document, field)];
    return a === null || b === null ? compare(a, b) : sign * compare(a, b);
  });
}

function snippets(document: FakeDocument, words: string[]): Snippet[] {
  const content = document.content ?? "";
  const found = words
    .map((word) => content.toLowerCase().indexOf(word.replaceAll(/[*?~]/g, "")))
    .filter((at) => at >= 0);
  const start = Math.max(0, (found.sort((one, other) => one - other)[0] ?? 0) - 40);
  const text = content.slice(start, start + 220);
  const marks = words.flatMap((word) => {
    const plain = word.replaceAll(/[*?~]/g, "");
    const places =
      plain === "" ? [] : [...text.toLowerCase().matchAll(new RegExp(plain.replace(/[^\w]/g, "\\$&"), "g"))];
    return places.map((place): [number, number] => {
      const from = Buffer.byteLength(text.slice(0, place.index));
      return [from, from + Buffer.byteLength(plain)];
    });
  });
  return [
    {
      text,
      start: Buffer.byteLength(content.slice(0, start)),
      marks: marks.sort((one, other) => one[0] - other[0]),
    },
  ];
}

function explanation(ranked: Ranked, words: string[]): Explanation {
  if (words.length === 0) return { value: 1, description: "documents with a value in the range score 1" };
  const parts = words.map((word): Explanation => {
    const frequency = searchedText(ranked.document).toLowerCase().split(word).length - 1;
    const tf = {
      value: frequency / (frequency + 1.2),
      description: "tf, freq / (freq + k1 · (1 - b + b · length / average))",
      details: [
        { value: frequency, description: "freq, how often it occurs in the document" },
        { value: 1.2, description: "k1, how quickly more occurrences stop mattering" },
      ],
    };
    return {
      value: tf.value,
      description: `${word}: idf · tf`,
      details: [{ value: 1, description: "idf, ln(1 + (N - n + 0.5) / (n + 0.5))" }, tf],
    };
  });
  return { value: ranked.score, description: "sum of", details: parts };
}

export function keyParts(key: Buffer): { key: string; key_bytes: string | null } {
  const { text, valid } = decode(key);
  return { key: text, key_bytes: valid ? null : key.toString("base64") };
}

function chosenFields(document: FakeDocument, names: string[]): Record<string, Value[]> {
  return Object.fromEntries(names.map((name) => [name, document.fields.get(name) ?? []]));
}

function hit(index: FakeIndex, ranked: Ranked, rank: number, given: Given, words: string[]): Hit {
  const { document } = ranked;
  return {
    rank,
    score: ranked.score,
    ...keyParts(document.key),
    fields: chosenFields(document, given.many("fields")),
    snippets: given.one("snippets") === "true" && index.snippets ? snippets(document, words) : [],
    explanation: given.one("explain") === "true" ? explanation(ranked, words) : null,
  };
}

/** The word that is spelt most nearly like this one. */
function meant(index: FakeIndex, q: string): SearchAnswer["did_you_mean"] {
  const vocabulary = new Set(
    index.documents.slice(0, 300).flatMap(
      (document) =>
        searchedText(document)
          .toLowerCase()
          .match(/\p{L}{4,}/gu) ?? [],
    ),
  );
  for (const word of q.match(/\p{L}{4,}/gu) ?? []) {
    const near = [...vocabulary].find(
      (each) =>
        each !== word &&
        each.length === word.length &&
        [...each].filter((letter, at) => letter !== word[at]).length === 1,
    );
    if (near !== undefined)
      return {
        text: q.replace(word, near),
        changed: [[word, near]],
        counts: [[word === "licenze" ? 2 : 0, 500]],
      };
  }
  return null;
}

export function search(index: FakeIndex, given: Given): SearchAnswer {
  const q = given.one("q") ?? "*";
  const { test, words } = parse(index, q === "" ? "*" : q);
  const found = index.documents.filter(test);
  return page(index, given, found, words, found.length === 0 ? meant(index, q) : null);
}

/** Documents with words of another one. */
export function like(index: FakeIndex, key: Buffer, given: Given): SearchAnswer | null {
  const example = index.documents.find((document) => document.key.equals(key));
  if (example === undefined) return null;
  const words = [
    ...new Set(
      searchedText(example)
        .toLowerCase()
        .match(/\p{L}{5,}/gu) ?? [],
    ),
  ].slice(0, 5);
  const found = index.documents.filter(
    (document) =>
      document !== example && words.some((word) => searchedText(document).toLowerCase().includes(word)),
  );
  return page(index, given, found, words, null);
}

function page(
  index: FakeIndex,
  given: Given,
  found: FakeDocument[],
  words: string[],
  did_you_mean: SearchAnswer["did_you_mean"] = null,
): SearchAnswer {
  const ranked = sorted(
    found.map((document) => ({ document, score: score(document, words) })),
    given.one("sort") ?? "",
  );
  const token = given.one("after");
  const start = token === null || token === "" ? 0 : Number(Buffer.from(token, "base64url").toString());
  const limit = Number(given.one("limit") ?? 10);
  const shown = ranked.slice(start, start + limit);
  const partial = index.name === "scratch";
  return {
    index: index.name,
    generation: 7,
    count: given.one("count") === "false" ? null : found.length,
    partial,
    partial_reason: partial ? "the query took longer than 2s" : null,
    took: 0.00123,
    incomplete: index.complete ? null : INCOMPLETE,
    did_you_mean: did_you_mean ?? null,
    hits: shown.map((each, at) => hit(index, each, start + at + 1, given, words)),
    after: start + limit < ranked.length ? Buffer.from(String(start + limit)).toString("base64url") : null,
    facets: given.many("facet").map((text) => facet(found, text)),
  };
}

/** Completions: names of fields, values after a colon, and words. */
export function suggest(index: FakeIndex, q: string, position: number): SuggestAnswer {
  const before = Buffer.from(q).subarray(0, position).toString();
  const value = /(\w+):([^\s()"]*)$/.exec(before);
  if (value) {
    const [, field = "", start = ""] = value;
    const buckets = facet(index.documents, `${field}:200`).buckets.filter((bucket) =>
      String(bucket.value).startsWith(start),
    );
    const quoted = (text: string): string =>
      /^[\w./-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
    const suggestions = buckets
      .slice(0, 8)
      .map((bucket) => ({ text: quoted(String(bucket.value)), kind: "value", count: bucket.count }));
    return { from: position - Buffer.byteLength(start), to: position, suggestions, did_you_mean: null };
  }
  const word = /[\w]*$/.exec(before)?.[0] ?? "";
  const fields =
    word === ""
      ? []
      : index.fields
          .filter((field) => field.name.startsWith(word))
          .map((field) => ({ text: `${field.name}:`, kind: "field" }));
  const terms = new Map<string, number>();
  if (word.length > 1) {
    for (const document of index.documents.slice(0, 1000)) {
      for (const term of new Set(
        searchedText(document)
          .toLowerCase()
          .match(/\p{L}+/gu) ?? [],
      )) {
        if (term.startsWith(word.toLowerCase())) terms.set(term, (terms.get(term) ?? 0) + 1);
      }
    }
  }
  const all = q.toLowerCase().match(/\p{L}{4,}/gu) ?? [];
  const counted = (q: string): number | null =>
    search(index, { one: (name) => (name === "q" ? q : null), many: () => [] }).count;
  const unknown = all.filter((each) => counted(each) === 0);
  const words = [...terms]
    .sort((one, other) => other[1] - one[1])
    .slice(0, 5)
    .map(([text, count]) => ({ text, kind: "term", count }));
  return {
    from: position - word.length,
    to: position,
    suggestions: [...fields, ...words],
    did_you_mean: unknown.length === 0 ? null : (meant(index, q) ?? null),
  };
}

/** The sums of a directory and of its entries. */
export function usage(index: FakeIndex, asked: Buffer): UsageAnswer | null {
  const tops: Record<string, string> = { home: "/home", roots: "/usr" };
  const top = tops[index.name] ?? "/data";
  const latin1 = asked.length === 0 ? top : asked.toString("latin1").replace(/\/$/, "");
  const place = Buffer.from(latin1, "latin1");
  const prefix = `${latin1}/`;
  const total = { count: 0, size: 0 };
  const children = new Map<string, UsageNode>();
  for (const document of index.documents) {
    if (!document.latin1.startsWith(prefix)) continue;
    const names = document.latin1.slice(prefix.length).split("/", 2);
    const isFile = names.length === 1 && first(document, "type") !== "directory";
    const name = isFile ? "" : (names[0] ?? "");
    const node = children.get(name) ?? usageNode(place, Buffer.from(name, "latin1"));
    children.set(name, node);
    const size = Number(first(document, "size"));
    const modified = String(first(document, "mtime"));
    if (node.newest === null || modified > node.newest) node.newest = modified;
    for (const sums of [total, node]) {
      sums.count += 1;
      sums.size += size;
    }
  }
  return total.count === 0 && index.documents.length > 0
    ? null
    : { ...pathParts(place), total, children: [...children.values()] };
}

/** A directory, or the files of `top` itself if the name is empty. */
function usageNode(top: Buffer, name: Buffer): UsageNode {
  const sums = { count: 0, size: 0, newest: null };
  const own = pathParts(top);
  if (name.length === 0) return { ...own, name: own.path.split("/").at(-1) ?? "", kind: "files", ...sums };
  const path = Buffer.concat([top, Buffer.from("/"), name]);
  return { name: decode(name).text, ...pathParts(path), kind: "directory", ...sums };
}

function pathParts(path: Buffer): { path: string; path_bytes?: string } {
  const { key, key_bytes } = keyParts(path);
  return { path: key, ...(key_bytes === null ? {} : { path_bytes: key_bytes }) };
}
