// Quoting for bash, for Python, and in queries: the programs themselves say what a quoted text means.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { test } from "node:test";

import { asCommand, asCurl, asPython, curlNote } from "../../src/text/copy-as";
import type { Asked, Reach } from "../../src/text/copy-as";
import { pythonQuote, shellQuoteBytes } from "../../src/text/quote";
import { HOSTILE_NAMES } from "../fake/hostile";
import { seeded } from "./seeds";

function has(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    console.log(`SKIPPED: there is no ${program}`);
    return false;
  }
}

/** The arguments that bash makes of words. */
function shellWords(text: string): Buffer[] {
  const printed = execFileSync("bash", ["-s"], {
    input: `printf '%s\\0' ${text}\n`,
    env: { ...process.env, LC_ALL: "C" },
  });
  return split(printed);
}

function split(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, start)) {
    parts.push(bytes.subarray(start, at));
    start = at + 1;
  }
  return parts;
}

test("bash reads quoted names back, hostile and random ones", (context) => {
  if (!has("bash")) return context.skip("no bash");
  const random = seeded("shell");
  const made = Array.from({ length: 500 }, () =>
    Buffer.from(Array.from({ length: 1 + random.below(12) }, () => 1 + random.below(255))),
  );
  const names = [...HOSTILE_NAMES, ...made];
  const words = shellWords(names.map((name) => shellQuoteBytes(name)).join(" "));
  names.forEach((name, at) => assert.equal(words[at]?.toString("hex"), name.toString("hex")));
});

test("plain words need no quotes, and others the usual ones", () => {
  const quoted = (text: string): string => shellQuoteBytes(Buffer.from(text));
  assert.equal(quoted("size:desc,owner"), "size:desc,owner");
  assert.equal(quoted("it's"), "'it'\\''s'");
  assert.equal(quoted("a\nb"), "$'a\\nb'");
  assert.equal(quoted(""), "''");
});

test("Python reads quoted texts back", (context) => {
  if (!has("python3")) return context.skip("no Python");
  const texts = HOSTILE_NAMES.map((name) => name.toString("utf8"));
  const list = texts.map(pythonQuote).join(", ");
  const program = `import sys\nfor text in [${list}]: sys.stdout.buffer.write(text.encode() + b"\\0")`;
  const printed = split(execFileSync("python3", ["-c", program]));
  texts.forEach((text, at) => assert.equal(printed[at]?.toString("utf8"), text));
});

const ASKED: Asked = {
  index: "fs",
  path: "/srv/my indexes/fs.scanns",
  q: '-draft it\'s "a b"',
  sort: "size:desc",
  fields: ["size", "owner"],
  limit: 20,
  snippets: true,
  like: null,
};

test("the command has the query as one argument", (context) => {
  const command = asCommand(ASKED);
  assert.ok(
    command.startsWith(
      "scanns search '/srv/my indexes/fs.scanns' -k 20 --snippets --sort size:desc --fields size,owner -- ",
    ),
  );
  if (!has("bash")) return context.skip("no bash");
  const words = shellWords(command).map(String);
  assert.equal(words.at(-1), ASKED.q);
});

/** A page that is used without anything to send. */
const PLAIN: Reach = { page: "http://127.0.0.1:8080/base/?q=x", by: null, socket: null };

test("curl sends the token of a variable, which must be set", (context) => {
  if (!has("bash")) return context.skip("no bash");
  const curl = asCurl(ASKED, { ...PLAIN, by: "token" });
  const run = (env: Record<string, string>): { status: number | null; stdout: string; stderr: string } =>
    spawnSync("bash", ["-s"], {
      input: `curl() { printf '%s\\n' "$@"; }\n${curl}\n`,
      env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C", ...env },
      encoding: "utf8",
    });
  const words = run({ SCANNS_TOKEN: "1f0c" }).stdout.split("\n");
  assert.equal(words[words.indexOf("-H") + 1], "Authorization: Bearer 1f0c");
  const unset = run({});
  assert.notEqual(unset.status, 0);
  assert.equal(unset.stdout, "");
  assert.match(unset.stderr, /SCANNS_TOKEN: set it to the token in the link/);
});

test("curl connects to the Unix socket", (context) => {
  if (!has("bash")) return context.skip("no bash");
  const socket = "/run/user/1000/it's/fs.sock";
  const words = shellWords(asCurl(ASKED, { ...PLAIN, by: "socket", socket })).map(String);
  assert.deepEqual(words.slice(0, 5), ["curl", "-sG", "--unix-socket", socket, "localhost/api/v1/fs/search"]);
  for (const other of [{ ...PLAIN, by: "socket" as const }, { ...PLAIN, by: "proxy" as const }, PLAIN]) {
    assert.ok(asCurl(ASKED, other).startsWith("curl -sG http://127.0.0.1:8080/base/api/v1/fs/search"));
    assert.equal(curlNote(other) === null, other === PLAIN);
  }
});

test("curl sends the parameters", (context) => {
  if (!has("bash")) return context.skip("no bash");
  const words = shellWords(asCurl(ASKED, PLAIN)).map(String);
  assert.deepEqual(words.slice(0, 3), ["curl", "-sG", "http://127.0.0.1:8080/base/api/v1/fs/search"]);
  assert.ok(words.includes(`q=${ASKED.q}`));
});

test("the Python program is Python", (context) => {
  if (!has("python3")) return context.skip("no Python");
  const like = { text: "caf\\xe9", bytes: Buffer.from("caf\xe9", "latin1").toString("base64") };
  for (const asked of [ASKED, { ...ASKED, like }]) {
    execFileSync("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], {
      input: asPython(asked),
    });
  }
  assert.match(asPython({ ...ASKED, like }), /index\.like\(b"\\x63\\x61\\x66\\xe9", k=20\)/);
});
