// Changing the conditions of queries. The command scanns, where it is built, says what the values mean.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { clauses, conditions } from "../../src/query/clauses";
import {
  addClause,
  boundsOf,
  chosen,
  only,
  removeClause,
  setBounds,
  toggle,
  without,
} from "../../src/query/edit";
import { dateText, parseDate, parseSize, sizeText } from "../../src/query/units";
import { plainValues, quoteValue } from "../../src/query/values";
import { HOSTILE_NAMES } from "../fake/hostile";
import type { Random } from "../fake/random";
import { seeded } from "./seeds";

test("clauses end at spaces outside of quotes and brackets", () => {
  const fields = (q: string): string[] =>
    clauses(q).map((clause) => `${clause.sign}${clause.field ?? ""}|${clause.value}`);
  assert.deepEqual(fields('license "free software" ext:(gz "a b") -owner:root'), [
    "|license",
    '|"free software"',
    'ext|(gz "a b")',
    "-owner|root",
  ]);
  assert.deepEqual(fields("size:[1kB TO 2MB} mtime:>now-30d size > 5 a\\ b"), [
    "size|[1kB TO 2MB}",
    "mtime|>now-30d",
    "size|>5",
    "|a\\ b",
  ]);
  assert.deepEqual(fields('NOT ext:gz size=10 name:re"a b"'), ["NOText|gz", "size|10", 'name|re"a b"']);
});

test("a condition beside OR or AND is not a condition of its own", () => {
  assert.deepEqual(
    conditions("ext:gz OR ext:zst size:>1").map((clause) => clause.field),
    ["size"],
  );
  assert.deepEqual(
    conditions("a AND ext:gz owner:x").map((clause) => clause.field),
    ["owner"],
  );
});

test("values are added, excluded and taken back", () => {
  let q = toggle("license", "ext", "gz", "include");
  assert.equal(q, "license ext:gz");
  q = toggle(q, "ext", "tar gz", "include");
  assert.equal(q, 'license ext:(gz "tar gz")');
  q = toggle(q, "ext", "gz", "exclude");
  assert.equal(q, 'license ext:"tar gz" -ext:gz');
  q = toggle(q, "ext", "gz", "exclude");
  assert.equal(toggle(q, "ext", "tar gz", "include"), "license");
  assert.equal(toggle("*", "ext", "gz", "include"), "ext:gz");
});

test("what people typed stays", () => {
  const q = 'a OR b ext:gz* ext:gz (x y)@2 "ext:no"';
  assert.equal(toggle(q, "ext", "zst", "include"), 'a OR b ext:gz* ext:(gz zst) (x y)@2 "ext:no"');
  assert.equal(without(q, "ext"), 'a OR b (x y)@2 "ext:no"');
  assert.equal(only("path:/data x", "path", "/data/a b"), 'path:"/data/a b" x');
});

test("ranges are set, replaced and removed", () => {
  const q = setBounds("a size:>5 b", "size", { from: "1KiB", to: "4MiB" });
  assert.equal(q, "a b size:[1KiB TO 4MiB}");
  assert.deepEqual(boundsOf(q, "size"), { from: "1KiB", to: "4MiB" });
  assert.equal(setBounds(q, "size", { from: null, to: "1KiB" }), "a b size:<1KiB");
  assert.deepEqual(boundsOf("size:>=2024", "size"), { from: "2024", to: null });
  assert.equal(boundsOf("size:<=5", "size"), null);
  assert.equal(setBounds(q, "size", null), "a b");
});

test("sizes and dates are read as the command reads them", () => {
  assert.equal(parseSize("64KiB"), 65536);
  assert.equal(parseSize("1.5GiB"), 1.5 * 2 ** 30);
  assert.equal(parseSize("10kB"), 10_000);
  assert.equal(parseSize("3k"), 3072);
  assert.equal(parseSize("x"), null);
  assert.equal(sizeText(65536), "64KiB");
  assert.equal(sizeText(1000), "1000");
  assert.equal(dateText(parseDate("2024-03") ?? 0), "2024-03-01");
});

function randomValue(random: Random): string {
  const letters = [
    "a",
    "B",
    "é",
    " ",
    '"',
    "\\",
    "(",
    ")",
    "[",
    "]",
    ":",
    "*",
    "?",
    "-",
    "+",
    "~",
    "^",
    "@",
    "<",
    ">",
    "=",
    "/",
    ".",
    "\n",
    "OR",
    "1",
  ];
  return Array.from({ length: random.below(6) }, () => random.pick(letters)).join("");
}

test("any value is found again in the query, on random values", () => {
  const random = seeded("values");
  for (let round = 0; round < 3000; round++) {
    const values = [...new Set(Array.from({ length: 1 + random.below(4) }, () => randomValue(random)))];
    const [last = ""] = values.slice(-1);
    let q = random.pick(["", "license", "a OR b", '"x y" -z', "owner:root"]);
    const before = q;
    for (const value of values) q = toggle(q, "ext", value, "include");
    assert.deepEqual(chosen(q, "ext").included, values, q);
    q = toggle(q, "ext", last, "exclude");
    assert.deepEqual(chosen(q, "ext"), { included: values.slice(0, -1), excluded: [last] }, q);
    assert.equal(without(q, "ext"), before);
  }
});

test("removing each clause removes its text only, on random queries", () => {
  const random = seeded("clauses");
  const parts = [
    "license",
    '"a b"',
    "ext:gz",
    "-owner:root",
    "(a OR b)",
    "size:[1 TO 2}",
    "NOT x",
    'name:"\\" x"',
    "mtime:>now-1d",
  ];
  for (let round = 0; round < 1000; round++) {
    const chosenParts = Array.from({ length: 1 + random.below(6) }, () => random.pick(parts));
    const found = clauses(chosenParts.join(" "));
    assert.equal(found.length, chosenParts.length);
    const at = random.below(found.length);
    const clause = found[at];
    assert.ok(clause);
    assert.equal(
      removeClause(chosenParts.join(" "), clause),
      chosenParts.filter((_, index) => index !== at).join(" "),
    );
  }
});

/** The command, where it is built: SCANNS names it. */
function command(): string | null {
  const found = [process.env["SCANNS"] ?? "", "../target/release/scanns", "../target/debug/scanns"].find(
    (path) => path !== "" && existsSync(path),
  );
  if (found === undefined)
    console.log("SKIPPED: build scanns, or name it in SCANNS, to compare with its query language");
  return found ?? null;
}

test("the command reads written values as they were meant", (context) => {
  const scanns = command();
  if (scanns === null) return context.skip("no scanns");
  const folder = mkdtempSync(join(tmpdir(), "scanns-web-"));
  try {
    writeFileSync(join(folder, "a.txt"), "a license");
    const index = join(folder, "a.scanns");
    execFileSync(scanns, ["index", "-q", "-o", index, join(folder, "a.txt")]);
    const random = seeded("command");
    const names = HOSTILE_NAMES.map((name) => name.toString("utf8"));
    const json = (value: string): string =>
      JSON.stringify({ values: { column: "ext", gte: value, lte: value } });
    const printed = (q: string): string =>
      execFileSync(scanns, ["search", index, "--print-query", "--", q], { encoding: "utf8" });
    for (const value of [...names, ...Array.from({ length: 60 }, () => randomValue(random))]) {
      const [other, excluded] = [`${randomValue(random)}o`, `${randomValue(random)}x`];
      let q = toggle(addClause("license", "size:<1GiB"), "ext", value, "include");
      assert.ok(printed(q).includes(json(value)), q);
      q = toggle(toggle(q, "ext", other, "include"), "ext", excluded, "exclude");
      const both = `{"bool":{"should":[${json(value)},${json(other)}]}}`;
      assert.ok(printed(q).includes(both), q);
      assert.ok(printed(q).includes(`"must_not":[${json(excluded)}]`), q);
      assert.deepEqual(plainValues(quoteValue(value)), [value]);
    }
    const ranged = setBounds("license OR free", "size", { from: "1KiB", to: "4KiB" });
    assert.ok(printed(ranged).includes('"filter":[{"values":{"column":"size","gte":1024,"lt":4096}}]'));
    const dated = setBounds("", "mtime", { from: "2024-01-01", to: "2024-02-01" });
    assert.ok(printed(dated).includes('"gte":"2024-01-01T00:00:00Z","lt":"2024-02-01T00:00:00Z"'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
