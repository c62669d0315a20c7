// Answers queries over the documents of the fake server: words, conditions, AND, OR, NOT and parentheses.

import type { Value } from "../../src/api/types";
import type { Clause } from "../../src/query/clauses";
import { clauses, excludes } from "../../src/query/clauses";
import { parseDate, parseSize } from "../../src/query/units";
import { plainValues } from "../../src/query/values";
import type { FakeDocument, FakeIndex } from "./documents";

/** An error of a query, at a place in bytes. */
export class QueryFault extends Error {
  constructor(
    message: string,
    readonly offset: number,
    readonly length: number,
  ) {
    super(message);
  }
}

export type Test = (document: FakeDocument) => boolean;

export interface Parsed {
  test: Test;
  /** The words that documents are ranked by. */
  words: string[];
}

const bytes = (text: string): number => Buffer.byteLength(text);

/** Refuses quotes and brackets that are not closed. */
function checkBalance(q: string): void {
  const open: number[] = [];
  let quote = -1;
  for (let at = 0; at < q.length; at++) {
    if (q[at] === "\\") at += 1;
    else if (q[at] === '"') quote = quote < 0 ? at : -1;
    else if (quote < 0 && q[at] === "(") open.push(at);
    else if (quote < 0 && q[at] === ")" && open.pop() === undefined)
      throw new QueryFault("this parenthesis was not opened: remove it", bytes(q.slice(0, at)), 1);
  }
  if (quote >= 0) throw new QueryFault('this quote is not closed: add "', bytes(q.slice(0, quote)), 1);
  const last = open.pop();
  if (last !== undefined)
    throw new QueryFault("this parenthesis is not closed: add ) or write \\(", bytes(q.slice(0, last)), 1);
}

export function parse(index: FakeIndex, q: string): Parsed {
  checkBalance(q);
  const words: string[] = [];
  return { test: combine(index, q, words), words };
}

function combine(index: FakeIndex, q: string, words: string[]): Test {
  const groups: { tests: Test[]; condition: boolean; required: boolean }[] = [];
  const not: Test[] = [];
  let previous: Clause | undefined;
  for (const clause of clauses(q)) {
    const test = clauseTest(index, q, clause, words);
    const between = previous === undefined ? "" : q.slice(previous.end, clause.start);
    const group = groups.at(-1);
    if (excludes(clause)) not.push(test);
    else if (/\bOR\b/.test(between) && group) group.tests.push(test);
    else {
      const condition = clause.field !== null;
      groups.push({
        tests: [test],
        condition,
        required: clause.sign === "+" || /\bAND\b/.test(between) || clause.value === "*",
      });
      if (/\bAND\b/.test(between) && group) group.required = true;
    }
    previous = clause;
  }
  const must = groups.filter((group) => group.condition || group.required);
  const should = groups.filter((group) => !group.condition && !group.required);
  const any =
    (tests: Test[]): Test =>
    (document) =>
      tests.some((test) => test(document));
  return (document) =>
    must.every((group) => any(group.tests)(document)) &&
    (should.length === 0 ||
      must.some((group) => group.required) ||
      should.some((group) => any(group.tests)(document))) &&
    !not.some((test) => test(document));
}

function clauseTest(index: FakeIndex, q: string, clause: Clause, words: string[]): Test {
  const { field, value } = clause;
  if (field === null) return wordTest(index, value, excludes(clause) ? [] : words);
  if (!index.fields.some((each) => each.name === field)) {
    const start = q.indexOf(`${field}`, clause.start);
    const names = index.fields.map((each) => each.name).join(", ");
    throw new QueryFault(
      `there is no field '${field}': there are ${names}`,
      bytes(q.slice(0, start)),
      bytes(field),
    );
  }
  return fieldTest(field, value);
}

function wordTest(index: FakeIndex, text: string, words: string[]): Test {
  if (text === "*") return () => true;
  if (text.startsWith("(")) return combine(index, text.slice(1, -1), words);
  const plain = text.replaceAll(/^"|"$/g, "").toLowerCase();
  words.push(plain);
  const pattern = wildcard(plain, "i", "\\b", "\\b");
  return (document) => pattern.test(searchedText(document));
}

/** What words are looked up in: the text and the title; the name for documents without text. */
export function searchedText(document: FakeDocument): string {
  const known = texts.get(document) ?? textOf(document);
  texts.set(document, known);
  return known;
}

const texts = new WeakMap<FakeDocument, string>();

function textOf(document: FakeDocument): string {
  const title = document.fields.get("title")?.[0] ?? "";
  return document.content === null
    ? String(document.fields.get("name")?.[0]).replace(/[_-]/g, " ")
    : `${String(title)}\n${document.content}`;
}

function wildcard(text: string, flags: string, before: string, after: string): RegExp {
  const escaped = text
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^]*")
    .replaceAll("?", "[^]");
  return new RegExp(before + escaped + after, `${flags}u`);
}

/** A value as a number: sizes, dates and relative dates. */
function ordinal(text: string): number {
  const relative = /^now-(\d+)(mo|[hdwy])$/.exec(text);
  const days: Record<string, number> = { h: 1 / 24, d: 1, w: 7, mo: 30, y: 365 };
  if (relative) return Date.now() - Number(relative[1]) * (days[relative[2] ?? "d"] ?? 1) * 86_400_000;
  if (text === "now") return Date.now();
  if (/^\d{4}-\d/.test(text)) return parseDate(text) ?? Number.NaN;
  return parseSize(text) ?? Number(text);
}

const valueOrdinal = (value: Value): number =>
  typeof value === "string" && /^\d{4}-/.test(value) ? Date.parse(value) : Number(value);

function fieldTest(field: string, value: string): Test {
  const over =
    (test: (value: Value) => boolean): Test =>
    (document) =>
      (document.fields.get(field) ?? []).some(test);
  if (value === "*") return over(() => true);
  const range = /^[[{](\S+) TO (\S+)([\]}])$/.exec(value);
  if (range) {
    const [from, to] = [
      range[1] === "*" ? -Infinity : ordinal(range[1] ?? ""),
      range[2] === "*" ? Infinity : ordinal(range[2] ?? ""),
    ];
    return over(
      (each) =>
        valueOrdinal(each) >= from && (range[3] === "}" ? valueOrdinal(each) < to : valueOrdinal(each) <= to),
    );
  }
  const compared = /^(<=|>=|<|>)(\S+)$/.exec(value);
  if (compared) {
    const bound = ordinal(compared[2] ?? "");
    const tests: Record<string, (value: number) => boolean> = {
      "<": (v) => v < bound,
      ">": (v) => v > bound,
      "<=": (v) => v <= bound,
      ">=": (v) => v >= bound,
    };
    return over((each) => tests[compared[1] ?? ""]?.(valueOrdinal(each)) ?? false);
  }
  const values = plainValues(value);
  if (values === null)
    return over((each) => wildcard(value.replace(/^"|"$/g, ""), "", "^", "$").test(String(each)));
  if (field === "path")
    return over((each) =>
      values.some((path) => String(each) === path || String(each).startsWith(`${path.replace(/\/$/, "")}/`)),
    );
  return over((each) => values.includes(String(each)));
}
