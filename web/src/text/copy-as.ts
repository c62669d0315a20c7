// The search of the page as a command, as Python and as curl, to be copied into a terminal or a notebook.

import { indexPath, urlQuery } from "../api/client";
import type { DocumentKey } from "./keys";
import { keyBytes } from "./keys";
import { pythonQuote, shellQuote, shellQuoteBytes } from "./quote";

/** What the page asks. */
export interface Asked {
  index: string;
  /** The path of the index on the server. */
  path: string;
  q: string;
  sort: string;
  fields: string[];
  limit: number;
  snippets: boolean;
  like: DocumentKey | null;
}

/** `scanns search …` for a shell. */
export function asCommand(asked: Asked): string {
  const words = ["scanns search", shellQuote(asked.path), `-k ${asked.limit}`];
  if (asked.snippets) words.push("--snippets");
  if (asked.sort !== "") words.push(`--sort ${shellQuote(asked.sort)}`);
  if (asked.fields.length > 0) words.push(`--fields ${shellQuote(asked.fields.join(","))}`);
  if (asked.like !== null) words.push(`--like ${shellQuoteBytes(keyBytes(asked.like))}`);
  else words.push(asked.q.startsWith("-") ? "--" : "", shellQuote(asked.q === "" ? "*" : asked.q));
  return words.filter((word) => word !== "").join(" ");
}

/** A program in Python that prints the same hits. */
export function asPython(asked: Asked): string {
  const options = [`k=${asked.limit}`];
  if (asked.sort !== "" && asked.like === null) options.push(`sort=${pythonQuote(asked.sort)}`);
  if (asked.fields.length > 0 && asked.like === null)
    options.push(`fields=${pythonQuote(asked.fields.join(","))}`);
  const method = asked.like === null ? "search" : "like";
  const first = asked.like === null ? pythonQuote(asked.q === "" ? "*" : asked.q) : pythonKey(asked.like);
  return [
    "import scanns",
    "",
    `index = scanns.open(${pythonQuote(asked.path)})`,
    `hits = index.${method}(${[first, ...options].join(", ")})`,
    "print(hits.to_pandas())",
  ].join("\n");
}

function pythonKey(key: DocumentKey): string {
  if (key.bytes === null) return pythonQuote(key.text);
  return `b"${Array.from(keyBytes(key), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}"`;
}

/** curl for a shell; `page` is the URL of the page. */
export function asCurl(asked: Asked, page: string): string {
  const resource = asked.like === null ? "search" : "like";
  const url = new URL(indexPath(asked.index, resource), page).href;
  const options: [string, string][] = [["limit", String(asked.limit)]];
  if (asked.like === null) options.unshift(["q", asked.q === "" ? "*" : asked.q]);
  if (asked.snippets) options.push(["snippets", "true"]);
  if (asked.sort !== "") options.push(["sort", asked.sort]);
  if (asked.fields.length > 0) options.push(["fields", asked.fields.join(",")]);
  const words = options.map(([name, value]) => `--data-urlencode ${shellQuote(`${name}=${value}`)}`);
  if (asked.like !== null)
    words.unshift(`--data-urlencode ${shellQuoteBytes(joined("key=", keyBytes(asked.like)))}`);
  return [`curl -sG ${shellQuote(url)}`, ...words].join(" \\\n  ");
}

function joined(prefix: string, bytes: Uint8Array): Uint8Array {
  return new Uint8Array([...new TextEncoder().encode(prefix), ...bytes]);
}

/** The link that downloads all hits in a format, with their keys. */
export function exportPath(asked: Asked, format: string): string {
  const parameters = {
    format,
    q: asked.q === "" ? "*" : asked.q,
    fields: ["_key", ...asked.fields],
    sort: asked.sort === "" ? undefined : asked.sort,
  };
  return `${indexPath(asked.index, "export")}?${urlQuery(parameters)}`;
}
