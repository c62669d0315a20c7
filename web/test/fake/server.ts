// A server that answers the API with made documents, and serves the page as scanns does.
//
// Some words make queries special: zzslow waits, zzbusy is refused once, zzpanic and zzview fail.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { join, normalize } from "node:path";
import type { AddressInfo } from "node:net";

import * as answers from "./answers";
import type { Given } from "./answers";
import type { FakeIndex } from "./documents";
import { coverage } from "./coverage";
import { fakeIndexes } from "./documents";
import { growth, sizes } from "./growth";
import { firstAnswer } from "./first";
import { QueryFault } from "./query";

/** The policy of the real server, which also reports here what it stopped. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "form-action 'self'; frame-ancestors 'self'; base-uri 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";

const TYPES: Record<string, string> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

export interface FakeServer {
  /** The URL of the page, with a base path. */
  url: string;
  /** Reports of violations of the policy. */
  violations: string[];
  /** The requests to the API: method and path. */
  requests: string[];
  close: () => Promise<void>;
}

interface Context {
  dist: string;
  base: string;
  indexes: Map<string, FakeIndex>;
  violations: string[];
  requests: string[];
  refused: Set<string>;
}

/** Starts the server on a free port of this machine, or on `port`. */
export async function startFakeServer(
  dist: string,
  base = "/prefix/of a proxy/",
  port = 0,
): Promise<FakeServer> {
  const context: Context = {
    dist,
    base: encodeURI(base),
    indexes: fakeIndexes(),
    violations: [],
    requests: [],
    refused: new Set(),
  };
  const server: Server = createServer((request, response) => {
    void handle(context, request, response).catch((error: unknown) => {
      const fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
      problem(response, 500, "The server made an error", fault);
    });
  });
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  const { port: bound } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${bound}${context.base}`,
    violations: context.violations,
    requests: context.requests,
    close,
  };
}

async function body(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function send(
  response: ServerResponse,
  status: number,
  type: string,
  content: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    "content-type": type,
    "x-content-type-options": "nosniff",
    "x-request-id": "r-1",
    ...headers,
  });
  response.end(content);
}

function json(response: ServerResponse, value: unknown): void {
  send(response, 200, "application/json", JSON.stringify(value));
}

function problem(
  response: ServerResponse,
  status: number,
  title: string,
  detail: string,
  more: object = {},
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify({ type: "/problems/fake", title, status, detail, request_id: "r-1", ...more });
  send(response, status, "application/problem+json", text, headers);
}

async function handle(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://fake");
  if (url.pathname === "/violations") {
    context.violations.push(await body(request));
    return send(response, 204, "text/plain", "");
  }
  if (!url.pathname.startsWith(context.base))
    return problem(response, 404, "There is nothing here", url.pathname);
  const path = url.pathname.slice(context.base.length);
  if (path === "") {
    const policy = { "content-security-policy": `${POLICY}; report-uri /violations` };
    const template = await readFile(join(context.dist, "index.html"), "utf8");
    return send(
      response,
      200,
      "text/html; charset=utf-8",
      firstAnswer(template, context.indexes, url.searchParams),
      policy,
    );
  }
  if (path.startsWith("assets/")) return asset(context, path, response);
  if (!/^api\/v1(\/|$)/.test(path)) return problem(response, 404, "There is nothing here", path);
  context.requests.push(`${request.method} ${path}${url.search}`);
  return api(context, path.slice("api/v1".length + 1), url, request, response);
}

async function asset(context: Context, path: string, response: ServerResponse): Promise<void> {
  const file = normalize(join(context.dist, path));
  const content = file.startsWith(context.dist) ? await readFile(file).catch(() => null) : null;
  if (content === null) return problem(response, 404, "There is nothing here", path);
  send(response, 200, TYPES[/\.\w+$/.exec(file)?.[0] ?? ""] ?? "application/octet-stream", content, {
    "cache-control": "max-age=31536000, immutable",
  });
}

/** The bytes of a percent-encoded text. */
function percentBytes(text: string): Buffer {
  return Buffer.from(
    text.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    ),
    "latin1",
  );
}

async function givenOf(url: URL, request: IncomingMessage): Promise<Given> {
  if (request.method !== "POST") {
    const lists = (name: string): string[] =>
      url.searchParams.getAll(name).flatMap((text) => (name === "fields" ? text.split(",") : [text]));
    return { one: (name) => url.searchParams.get(name), many: lists };
  }
  const values = JSON.parse(await body(request)) as Record<
    string,
    string | number | boolean | string[] | undefined
  >;
  const many = (name: string): string[] => {
    const value = values[name];
    return Array.isArray(value) ? value : value === undefined ? [] : String(value).split(",");
  };
  return { one: (name) => (values[name] === undefined ? null : String(values[name])), many };
}

async function api(
  context: Context,
  path: string,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (path === "") return json(response, indexList(context));
  const [name = "", resource = "", ...rest] = path.split("/");
  const index = context.indexes.get(decodeURIComponent(name));
  if (index === undefined) return problem(response, 404, "There is no such index", name);
  if (index.name === "locked")
    return problem(response, 401, "Who you are is not known", "open the link that scanns serve printed");
  const given = await givenOf(url, request);
  const q = given.one("q") ?? "";
  if (await special(context, q, request, response)) return undefined;
  try {
    return answer(context, index, resource, rest.join("/"), given, url, response);
  } catch (error) {
    if (!(error instanceof QueryFault)) throw error;
    const position = { offset: error.offset, length: error.length };
    return problem(response, 400, "The query has an error", error.message, { parameter: "q", position });
  }
}

function indexList(context: Context): object {
  const indexes = [...context.indexes.values()].map((index) => {
    const { name, generation, documents, committed } = answers.info(index);
    return { name, path: index.path, documents, generation, committed };
  });
  return {
    server: { name: "scanns", version: "0.1.0" },
    user: { name: "anna", uid: 1000 },
    trimmed: false,
    recognized_by: "token",
    socket: null,
    indexes,
  };
}

/** Answers that are slow, refused or broken; true if the request is answered. */
async function special(
  context: Context,
  q: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  if (q.includes("zzslow")) await new Promise((done) => setTimeout(done, 1500));
  if (q.includes("zzbusy") && !context.refused.has(request.url ?? "")) {
    context.refused.add(request.url ?? "");
    problem(response, 503, "The server is busy", "32 searches wait already", {}, { "retry-after": "1" });
    return true;
  }
  if (q.includes("zzpanic")) {
    problem(
      response,
      500,
      "The server made an error",
      "this is a fault of scanns: please report the request's number",
    );
    return true;
  }
  if (q.includes("zzview")) {
    problem(
      response,
      422,
      "This index cannot answer that for you",
      "the query asks a field that you may not see",
    );
    return true;
  }
  return false;
}

function growthAnswer(
  context: Context,
  index: FakeIndex,
  given: Given,
  url: URL,
  response: ServerResponse,
): void {
  const before = context.indexes.get(given.one("with") ?? "");
  const lacking = "the index has no paths and sizes of files";
  if (before === undefined) return problem(response, 404, "There is no such index", "GET /api/v1 lists them");
  if (!sizes(before)) return problem(response, 422, "The index cannot answer this", lacking);
  const path = percentBytes(/[?&]path=([^&]*)/.exec(url.search)?.[1] ?? "");
  const found = growth(index, before, path, given);
  const nothing = "there is nothing below this directory, or no such directory";
  return found === null
    ? problem(response, 404, "There is no such directory", nothing)
    : json(response, found);
}

function answer(
  context: Context,
  index: FakeIndex,
  resource: string,
  rest: string,
  given: Given,
  url: URL,
  response: ServerResponse,
): void {
  const key = percentBytes(/[?&]key=([^&]*)/.exec(url.search)?.[1] ?? "");
  const missing = (): void =>
    problem(response, 404, "There is no such document", "it may be hidden from you");
  if (resource === "info") return json(response, answers.info(index));
  if (resource === "search") return json(response, answers.search(index, given));
  if (resource === "suggest")
    return json(response, answers.suggest(index, given.one("q") ?? "", Number(given.one("position") ?? 0)));
  if (resource === "like") {
    const found = answers.like(index, key, given);
    return found === null ? missing() : json(response, found);
  }
  if (resource === "usage") {
    const found = answers.usage(index, Buffer.from(given.one("path") ?? ""));
    return found === null ? missing() : json(response, found);
  }
  if (resource === "growth") return growthAnswer(context, index, given, url, response);
  if (resource === "coverage") {
    const kind = { type: "/problems/view" };
    const title = "This cannot be told of what you may see";
    if (index.trimmed === true)
      return problem(response, 422, title, "it is told to its owner and root", kind);
    return json(response, coverage(index));
  }
  if (resource === "documents") {
    // As a proxy, which does not take keys with encoded slashes in a path.
    const document = index.documents.find((each) => rest === "" && each.key.equals(key));
    if (document === undefined) return missing();
    return json(response, {
      ...answers.keyParts(document.key),
      fields: Object.fromEntries(document.fields),
      content: document.content,
    });
  }
  if (resource === "export") {
    const { hits } = answers.search(index, {
      ...given,
      one: (name) => (name === "limit" ? "1000000" : given.one(name)),
    });
    const format = given.one("format") ?? "csv";
    const disposition = { "content-disposition": `attachment; filename="${index.name}.${format}"` };
    return send(
      response,
      200,
      "application/octet-stream",
      hits.map((hit) => hit.key).join("\n"),
      disposition,
    );
  }
  return problem(response, 404, "There is nothing here", resource);
}
