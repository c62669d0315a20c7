// The state of the page in its URL, and what the browser stores.

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseExact, urlQuery } from "../../src/api/client";
import { failuresOf } from "../../src/state/coverage";
import { checkSaved } from "../../src/state/stored";
import type { PageState } from "../../src/state/url";
import { START, changed, readState, writeState } from "../../src/state/url";
import { keyBytes, parentOf } from "../../src/text/keys";
import type { Random } from "../fake/random";
import { seeded } from "./seeds";

function randomText(random: Random): string {
  const parts = [
    "a",
    "&",
    "=",
    "?",
    "#",
    "%",
    "+",
    " ",
    "é",
    "日本",
    "👩",
    "\u202e",
    "\n",
    '"',
    "<b>",
    ":",
    "/",
    "\\",
  ];
  return Array.from({ length: random.below(8) }, () => random.pick(parts)).join("");
}

function randomState(random: Random): PageState {
  const key = () =>
    random.below(2) === 0
      ? null
      : { text: randomText(random), bytes: random.below(3) === 0 ? "Y2Fm6Q==" : null };
  const names = () =>
    random.below(2) === 0
      ? null
      : Array.from({ length: random.below(3) }, () => random.pick(["size", "owner", "a.b", "é"]));
  return {
    index: randomText(random),
    q: randomText(random),
    sort: random.pick(["", "key", "-key", "size:desc,owner"]),
    fields: names(),
    after: Array.from({ length: random.below(4) }, () => `1-${random.below(1e9)}`),
    view: random.pick(["results", "map", "owners", "growth"]),
    map: randomText(random),
    by: random.pick(["size", "count"]),
    with: randomText(random),
    below: key(),
    like: key(),
    open: key(),
    pane: random.pick(["preview", "why"]),
    coverage: random.below(2) === 0,
    facets: names(),
    charts: names(),
  };
}

test("every state is read back from its URL, on random states", () => {
  const random = seeded("states");
  for (let round = 0; round < 3000; round++) {
    const state = randomState(random);
    assert.deepEqual(readState(writeState(state)), state);
  }
});

test("the state at the start has no query, and garbage is the start", () => {
  assert.equal(writeState(START), "");
  assert.deepEqual(readState("?view=nothing&by=7&pane=x&unknown=1"), START);
});

test("another query begins at the first page and closes the pane", () => {
  const state = {
    ...START,
    q: "a",
    after: ["t1"],
    open: { text: "k", bytes: null },
    like: { text: "k", bytes: null },
  };
  assert.deepEqual(changed(state, { q: "b" }), { ...START, q: "b" });
  assert.deepEqual(changed(state, { view: "map" }).after, ["t1"]);
  const below = { text: "/a", bytes: null };
  assert.equal(changed({ ...START, with: "b", below }, { index: "other" }).with, "");
  assert.deepEqual(changed(START, { index: "b", with: "a", below }), {
    ...START,
    index: "b",
    with: "a",
    below,
  });
  assert.equal(changed({ ...state, fields: ["size"], sort: "size:desc" }, { index: "other" }).fields, null);
});

test("saved searches of a file are checked", () => {
  const good = { name: "large", search: "?q=size:>1G" };
  assert.deepEqual(
    checkSaved([good, { name: 1, search: "?" }, null, { name: "x", search: "javascript:1" }, 7]),
    [good],
  );
  assert.deepEqual(checkSaved({ saved: good }), []);
});

test("lists are repeated, and undefined parameters left out", () => {
  assert.equal(
    urlQuery({ q: "a b", facet: ["ext:20", "owner"], sort: undefined, count: false }),
    "q=a+b&facet=ext%3A20&facet=owner&count=false",
  );
});

test("integers beyond 2^53 keep their digits where the engine passes the source on", () => {
  const parsed = parseExact('{"inode":1152921504606846977,"size":12,"score":1.5e300}') as Record<
    string,
    unknown
  >;
  assert.equal(parsed["size"], 12);
  assert.ok(parsed["inode"] === "1152921504606846977" || typeof parsed["inode"] === "number");
});

test("failures are summed up by reason, also those that are not named", () => {
  const place = { path: "/a", format: null, began: "", entries: 1, complete: true, left_out: [] };
  const failed = (reason: string) => ({ path: "/a/x", reason });
  const covered = [
    { ...place, unread: 5, failures: [failed("b"), failed("a"), failed("c")] },
    { ...place, unread: 2, failures: [failed("c"), failed("__proto__")] },
  ];
  const { named, count, reasons, other } = failuresOf(covered, 2);
  assert.equal(named.length, 5);
  assert.equal(count, 7);
  assert.deepEqual(reasons, [
    { text: "c", count: 2 },
    { text: "__proto__", count: 1 },
  ]);
  assert.equal(other, 2);
  assert.deepEqual(failuresOf([], 2), { named: [], count: 0, reasons: [], other: 0 });
});

test("the directory above a path keeps its bytes", () => {
  const key = (bytes: string) => ({ text: "shown", bytes: Buffer.from(bytes, "latin1").toString("base64") });
  assert.deepEqual(parentOf({ text: "/a/é/b", bytes: null }), { text: "/a/é", bytes: null });
  assert.deepEqual(parentOf(key("/a/caf\xe9")), { text: "/a", bytes: null });
  const inside = parentOf(key("/a/caf\xe9/x"));
  assert.equal(inside?.text, "/a/caf\\xe9");
  assert.deepEqual(Buffer.from(keyBytes(inside ?? key(""))), Buffer.from("/a/caf\xe9", "latin1"));
  for (const top of ["/a", "/", "", "a"]) assert.equal(parentOf({ text: top, bytes: null }), null);
});
