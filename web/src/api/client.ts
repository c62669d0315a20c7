// Asks the API. Every question can be cancelled, and fails with a Problem that says what to do next.

import type {
  CoverageAnswer,
  DocumentAnswer,
  GrowthAnswer,
  IndexInfo,
  Indexes,
  ProblemBody,
  SearchAnswer,
  SuggestAnswer,
  Sums,
  UsageAnswer,
} from "./types";
import type { DocumentKey } from "../text/keys";
import { percentKey } from "../text/keys";

/** An answer that is an error, or the lack of an answer. */
export class Problem extends Error {
  constructor(
    readonly body: ProblemBody,
    /** Seconds after which the server wants to be asked again, or null. */
    readonly retryAfter: number | null,
  ) {
    super(body.detail ?? body.title);
  }

  /** True if the query has to be corrected. */
  get ofQuery(): boolean {
    return this.body.status === 400 && ["q", "query"].includes(this.body.parameter ?? "q");
  }
}

/** Parameters of a question. In a URL, commas separate the names of fields, and other lists are repeated. */
export type Parameters = Record<string, string | number | boolean | string[] | undefined>;

/** A question longer than this is sent in the body of a POST. */
const LONGEST_GET = 3000;

/** The parameters in the form of a URL's query, without those that are undefined. */
export function urlQuery(parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (name === "fields" && Array.isArray(value)) query.set(name, value.join(","));
    else if (Array.isArray(value)) value.forEach((each) => query.append(name, each));
    else if (value !== undefined) query.set(name, String(value));
  }
  return query.toString();
}

/** Parses JSON; integers that a number of JavaScript cannot hold become texts. */
export function parseExact(text: string): unknown {
  const exact = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? context?.source
      : value;
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

async function ask<T>(path: string, signal: AbortSignal, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      ...init,
      signal,
      headers: { accept: "application/json", ...init.headers },
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Problem(
      { title: "The server does not answer", status: 0, detail: "check that scanns serve runs" },
      null,
    );
  }
  const text = await response.text();
  if (response.ok) return parseExact(text) as T;
  throw new Problem(problemBody(response.status, text), retrySeconds(response));
}

function problemBody(status: number, text: string): ProblemBody {
  try {
    const body = JSON.parse(text) as ProblemBody;
    if (typeof body.title === "string") return { ...body, status };
  } catch {
    // Something between the page and the server answered; its text is not shown.
  }
  return { title: `The server answered with status ${status}`, status };
}

function retrySeconds(response: Response): number | null {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

/** The path of a resource of an index, relative to the page. */
export function indexPath(index: string, resource: string): string {
  return `api/v1/${encodeURIComponent(index)}/${resource}`;
}

export function indexes(signal: AbortSignal): Promise<Indexes> {
  return ask("api/v1", signal);
}

export function info(index: string, signal: AbortSignal): Promise<IndexInfo> {
  return ask(indexPath(index, "info"), signal);
}

export function search(index: string, parameters: Parameters, signal: AbortSignal): Promise<SearchAnswer> {
  const query = urlQuery(parameters);
  if (query.length <= LONGEST_GET) return ask(`${indexPath(index, "search")}?${query}`, signal);
  const headers = { "content-type": "application/json" };
  return ask(indexPath(index, "search"), signal, {
    method: "POST",
    headers,
    body: JSON.stringify(parameters),
  });
}

export function like(
  index: string,
  key: DocumentKey,
  parameters: Parameters,
  signal: AbortSignal,
): Promise<SearchAnswer> {
  return ask(`${indexPath(index, "like")}?key=${percentKey(key)}&${urlQuery(parameters)}`, signal);
}

/** A document. Its key is a parameter: proxies refuse or decode slashes that are encoded in a path. */
export function documentOf(index: string, key: DocumentKey, signal: AbortSignal): Promise<DocumentAnswer> {
  return ask(`${indexPath(index, "documents")}?key=${percentKey(key)}`, signal);
}

/** What the index covers, with at most `limit` failed inputs of each place. */
export function coverage(index: string, limit: number, signal: AbortSignal): Promise<CoverageAnswer> {
  return ask(`${indexPath(index, "coverage")}?limit=${limit}`, signal);
}

export function suggest(
  index: string,
  q: string,
  position: number,
  signal: AbortSignal,
  limit?: number,
): Promise<SuggestAnswer> {
  return ask(`${indexPath(index, "suggest")}?${urlQuery({ q, position, limit })}`, signal);
}

/** The sums of a directory and of what is in it; of the top of the index without a path. */
export async function usage(
  index: string,
  path: string,
  by: string,
  signal: AbortSignal,
): Promise<UsageAnswer> {
  const query = urlQuery({ path: path === "" ? undefined : path, by });
  const answer: UsageAnswer = await ask(`${indexPath(index, "usage")}?${query}`, signal);
  // Sums beyond 64 bits are texts.
  const total = { ...answer.total, size: Number(answer.total.size) };
  return {
    ...answer,
    total,
    children: answer.children.map((node) => ({ ...node, size: Number(node.size) })),
  };
}

/** What is in a directory, in the index `before` and in this one; of the top without a path. */
export async function growth(
  index: string,
  before: string,
  path: DocumentKey | null,
  options: Parameters,
  signal: AbortSignal,
): Promise<GrowthAnswer> {
  const query = urlQuery({ with: before, ...options });
  const place = path === null ? "" : `&path=${percentKey(path)}`;
  const answer: GrowthAnswer = await ask(`${indexPath(index, "growth")}?${query}${place}`, signal);
  // Sums beyond 64 bits are texts.
  const sums = ({ count, size }: Sums): Sums => ({ count, size: Number(size) });
  const both = <T extends { before: Sums; after: Sums }>(of: T): T => ({
    ...of,
    before: sums(of.before),
    after: sums(of.after),
  });
  return { ...answer, total: both(answer.total), children: answer.children.map(both) };
}
