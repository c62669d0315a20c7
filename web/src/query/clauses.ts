// Reads the top level of a query: its clauses, where they are, and which field they ask.
//
// The server parses queries. The page only finds the conditions that it may change, such as `ext:(gz zst)`;
// what it does not know stays as it is.

/** A clause at the top level of a query. */
export interface Clause {
  /** Where it is, in UTF-16 units, with its sign. */
  start: number;
  end: number;
  sign: "" | "+" | "-" | "NOT";
  field: string | null;
  /** What follows the field and its colon: `>1MiB`, `(gz zst)`, `"a b"`. */
  value: string;
  /** True if AND or OR joins it with another clause, so that it is not a condition of its own. */
  joined: boolean;
}

const FIELD = /^([\p{L}_][\p{L}\p{N}_.-]*)(?:\s*:\s*(?=[<>=])|:(?!\/\/)|\s*(?=[<>=]))/u;

/** The end of the clause that begins at `at`: the next space that is not in quotes or brackets. */
function clauseEnd(q: string, at: number): number {
  let depth = 0;
  let quoted = false;
  for (; at < q.length; at++) {
    const character = q[at] ?? "";
    if (character === "\\") at += 1;
    else if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if ("([{".includes(character)) depth += 1;
    else if (")]}".includes(character)) depth = Math.max(0, depth - 1);
    else if (depth === 0 && /\s/.test(character)) return at;
  }
  return q.length;
}

/** The clause that begins at `start`, after its sign. */
function readClause(q: string, start: number, sign: Clause["sign"], body: number, joined: boolean): Clause {
  const field = FIELD.exec(q.slice(body));
  let valueStart = body + (field?.[0].length ?? 0);
  const comparison = field === null ? null : /^(<=|>=|<|>|=)\s*/.exec(q.slice(valueStart));
  const end = clauseEnd(q, valueStart + (comparison?.[0].length ?? 0));
  if (comparison?.[1] === "=") valueStart += comparison[0].length;
  const value = q.slice(valueStart, end);
  return {
    start,
    end,
    sign,
    field: field?.[1] ?? null,
    value: comparison ? value.replace(/^(<=|>=|<|>)\s+/, "$1") : value,
    joined,
  };
}

/** The clauses at the top level, in order. */
export function clauses(q: string): Clause[] {
  const found: Clause[] = [];
  let joins = false;
  let not: number | null = null;
  for (let at = 0; at < q.length;) {
    if (/\s/.test(q[at] ?? "")) {
      at += 1;
      continue;
    }
    const word = /^(AND|OR|NOT)(?=\s|$)/.exec(q.slice(at))?.[1];
    if (word === "NOT") not = at;
    else if (word !== undefined) {
      joins = true;
      const last = found.at(-1);
      if (last) last.joined = true;
    }
    if (word !== undefined) {
      at += word.length;
      continue;
    }
    const sign = q[at] === "-" ? "-" : q[at] === "+" ? "+" : "";
    const clause = readClause(q, not ?? at, not === null ? sign : "NOT", at + sign.length, joins);
    found.push(clause);
    at = Math.max(clause.end, at + 1);
    joins = false;
    not = null;
  }
  return found;
}

/** True if the clause excludes what it finds. */
export function excludes(clause: Clause): boolean {
  return clause.sign === "-" || clause.sign === "NOT";
}

/** The conditions of a query that stand for themselves and ask a field. */
export function conditions(q: string): Clause[] {
  return clauses(q).filter((clause) => clause.field !== null && !clause.joined);
}
