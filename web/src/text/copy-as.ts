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

/** How programs reach the server. */
export interface Reach {
  /** The URL of the page. */
  page: string;
  /** What the server knows its callers by. */
  by: "token" | "socket" | "proxy" | null;
  /** The path of its Unix socket. */
  socket: string | null;
}

/** The variable of a shell with the token, which a script in a page cannot read. An unset one is an error. */
const TOKEN_HEADER =
  '-H "Authorization: Bearer ${SCANNS_TOKEN:?set it to the token in the link that scanns serve printed}"';

/** What a reader has to know before he runs curl; null if nothing. */
export function curlNote({ by, socket }: Reach): string | null {
  if (by === "token")
    return "Needs the token in the link that scanns serve printed: export SCANNS_TOKEN=… before.";
  if (by === "socket")
    return socket === null
      ? "Works where the browser runs, as long as the page does."
      : "Works on the machine of the server, for those whom its socket lets in.";
  if (by === "proxy") return "Add what the login of this site needs, such as -u NAME.";
  return null;
}

/** curl for a shell. */
export function asCurl(asked: Asked, { page, by, socket }: Reach): string {
  const resource = asked.like === null ? "search" : "like";
  const throughSocket = by === "socket" && socket !== null;
  const path = indexPath(asked.index, resource);
  // A request through a socket needs the name of a host, too.
  const url = throughSocket ? `localhost/${path}` : new URL(path, page).href;
  const first = throughSocket
    ? `curl -sG --unix-socket ${shellQuote(socket)} ${shellQuote(url)}`
    : `curl -sG ${shellQuote(url)}`;
  const options: [string, string][] = [["limit", String(asked.limit)]];
  if (asked.like === null) options.unshift(["q", asked.q === "" ? "*" : asked.q]);
  if (asked.snippets) options.push(["snippets", "true"]);
  if (asked.sort !== "") options.push(["sort", asked.sort]);
  if (asked.fields.length > 0) options.push(["fields", asked.fields.join(",")]);
  const words = options.map(([name, value]) => `--data-urlencode ${shellQuote(`${name}=${value}`)}`);
  if (asked.like !== null)
    words.unshift(`--data-urlencode ${shellQuoteBytes(joined("key=", keyBytes(asked.like)))}`);
  if (by === "token") words.unshift(TOKEN_HEADER);
  return [first, ...words].join(" \\\n  ");
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
