// The state of the page in its URL, and what the browser stores.

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseExact, urlQuery } from "../../src/api/client";
import { checkSaved } from "../../src/state/stored";
import type { PageState } from "../../src/state/url";
import { START, changed, readState, writeState } from "../../src/state/url";
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
    view: random.pick(["results", "map", "owners"]),
    map: randomText(random),
    by: random.pick(["size", "count"]),
    like: key(),
    open: key(),
    pane: random.pick(["preview", "why"]),
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
