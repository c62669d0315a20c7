// Values in queries: quotes them, and reads lists of plain values back.

const RESERVED = new Set(["AND", "OR", "NOT", "TO"]);

/** A value as a query has it: in quotes, unless it is a plain word. */
export function quoteValue(value: string): string {
  // After a colon, two slashes make a word of it all, as in http://x.
  if (/^(?!\/\/)[\p{L}\p{N}_/][\p{L}\p{N}_./-]*$/u.test(value) && !RESERVED.has(value)) return value;
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** The values of `gz`, `"a b"` or `(gz "a b")`; null for ranges, patterns and the like. */
export function plainValues(text: string): string[] | null {
  const inner = text.startsWith("(") && text.endsWith(")") ? text.slice(1, -1) : text;
  const listed = inner !== text;
  const values: string[] = [];
  let rest = inner.trim();
  while (rest !== "") {
    const quoted = /^"((?:[^"\\]|\\[^])*)"(?=\s|$)/.exec(rest);
    const plain = /^((?:[^\s"()[\]{}<>=*?~^@:\\+-]|\\[^]|(?<=.)[-+])+)(?=\s|$)/.exec(rest);
    const match = quoted ?? plain;
    if (match === null || (!quoted && RESERVED.has(match[0])) || (!listed && values.length > 0)) return null;
    values.push((match[1] ?? "").replace(/\\([^])/g, "$1"));
    rest = rest.slice(match[0].length).trim();
  }
  return values.length > 0 ? values : null;
}

/** One value, or several in parentheses. */
export function valueList(values: string[]): string {
  const quoted = values.map(quoteValue);
  return quoted.length === 1 ? (quoted[0] ?? "") : `(${quoted.join(" ")})`;
}
