// Changes the conditions of a query: the values of a facet, a range, a directory.
// What people typed stays as it is.

import type { Clause } from "./clauses";
import { conditions, excludes } from "./clauses";
import { plainValues, valueList } from "./values";

/** The chosen and the excluded values of a field. */
export interface Chosen {
  included: string[];
  excluded: string[];
}

function plainClauses(q: string, field: string, excluded: boolean): { clause: Clause; values: string[] }[] {
  return conditions(q).flatMap((clause) => {
    const values = clause.field === field && excludes(clause) === excluded ? plainValues(clause.value) : null;
    return values === null ? [] : [{ clause, values }];
  });
}

/** The values of `field` that the query asks for or excludes. */
export function chosen(q: string, field: string): Chosen {
  const all = (excluded: boolean): string[] =>
    plainClauses(q, field, excluded).flatMap((each) => each.values);
  return { included: all(false), excluded: all(true) };
}

/** The query with the text between two places replaced, and with single spaces around it. */
function splice(q: string, start: number, end: number, text: string): string {
  const parts = [q.slice(0, start).trimEnd(), text, q.slice(end).trimStart()];
  return parts.filter((part) => part !== "").join(" ");
}

/** The query without a clause. */
export function removeClause(q: string, clause: Clause): string {
  return splice(q, clause.start, clause.end, "");
}

/** The query with one more clause at its end. */
export function addClause(q: string, text: string): string {
  return splice(q.trim() === "*" ? "" : q, q.length, q.length, text);
}

function withValues(q: string, field: string, excluded: boolean, values: string[]): string {
  const old = plainClauses(q, field, excluded);
  const text = values.length === 0 ? "" : `${excluded ? "-" : ""}${field}:${valueList(values)}`;
  const [first] = old;
  if (first === undefined) return text === "" ? q : addClause(q, text);
  let changed = q;
  for (const { clause } of old.slice(1).reverse()) changed = removeClause(changed, clause);
  return splice(changed, first.clause.start, first.clause.end, text);
}

/** Asks for a value of a field, or excludes it; the same again takes it back. */
export function toggle(q: string, field: string, value: string, how: "include" | "exclude"): string {
  const now = chosen(q, field);
  const without = (list: string[]): string[] => list.filter((each) => each !== value);
  const included = without(now.included);
  const excluded = without(now.excluded);
  if (how === "include" && !now.included.includes(value)) included.push(value);
  if (how === "exclude" && !now.excluded.includes(value)) excluded.push(value);
  return withValues(withValues(q, field, false, included), field, true, excluded);
}

/** Leaves only this value of a field, or none. */
export function only(q: string, field: string, value: string | null): string {
  return withValues(q, field, false, value === null ? [] : [value]);
}

/** The query without any condition on a field. */
export function without(q: string, field: string): string {
  const mine = conditions(q).filter((clause) => clause.field === field);
  return mine.reverse().reduce(removeClause, q);
}

/** Bounds of a field as a query has them: from the first on, and before the second. */
export interface Bounds {
  from: string | null;
  to: string | null;
}

function isRange(clause: Clause, field: string): boolean {
  return (
    clause.field === field &&
    !excludes(clause) &&
    plainValues(clause.value) === null &&
    /^[[{<>]/.test(clause.value)
  );
}

/** Replaces the ranges of a field. */
export function setBounds(q: string, field: string, bounds: Bounds | null): string {
  const old = conditions(q).filter((clause) => isRange(clause, field));
  const cleared = old.reverse().reduce(removeClause, q);
  const text = bounds === null ? "" : boundsText(field, bounds);
  return text === "" ? cleared : addClause(cleared, text);
}

function boundsText(field: string, { from, to }: Bounds): string {
  if (from !== null && to !== null) return `${field}:[${from} TO ${to}}`;
  if (from !== null) return `${field}:>=${from}`;
  return to === null ? "" : `${field}:<${to}`;
}

/** The bounds of a field, if the query has one range in the form that `setBounds` writes. */
export function boundsOf(q: string, field: string): Bounds | null {
  const [range, ...more] = conditions(q).filter((clause) => isRange(clause, field));
  if (range === undefined || more.length > 0) return null;
  const both = /^\[(\S+) TO (\S+)\}$/.exec(range.value);
  if (both) return { from: both[1] ?? null, to: both[2] ?? null };
  const one = /^(>=|<)(?![=])(\S+)$/.exec(range.value);
  if (one === null) return null;
  return one[1] === ">=" ? { from: one[2] ?? null, to: null } : { from: null, to: one[2] ?? null };
}
