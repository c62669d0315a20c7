// Bars of histograms, classes of age, the map, and texts of previews.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { FieldInfo, GrowthNode, UsageNode } from "../../src/api/types";
import { AGES, ageBounds, ageClass, ageFacet } from "../../src/charts/ages";
import type { Chart } from "../../src/charts/bins";
import { bins, binsOfBounds, boundsOfBins, chartFacet, chartsOf } from "../../src/charts/bins";
import { growthRows } from "../../src/charts/growth";
import { tiles } from "../../src/charts/treemap";
import { change, count, mode, percent, size } from "../../src/text/format";
import { valueText } from "../../src/view/shown";
import { pieces, visible } from "../../src/text/show";
import { csvRows, prettyJson, separatorOf } from "../../src/text/tables";
import { seeded } from "./seeds";

const column = (name: string, kind: string): FieldInfo => ({
  name,
  kind,
  column: true,
  stored: false,
  searched: false,
});

test("the charts of a file system are its times of change and its sizes", () => {
  const fields = [
    column("inode", "unsigned"),
    column("atime", "date"),
    column("size", "unsigned"),
    column("mtime", "date"),
  ];
  assert.deepEqual(chartsOf(fields, null), [
    { field: "mtime", kind: "date" },
    { field: "size", kind: "size" },
  ]);
  assert.deepEqual(chartsOf(fields, ["atime", "nothing"]), [{ field: "atime", kind: "date" }]);
  assert.deepEqual(
    chartsOf([column("year", "unsigned"), column("citations", "unsigned")], null).map((chart) => chart.kind),
    ["every", "number"],
  );
});

test("bars of dates have no gaps, and lose no document, on random months", () => {
  const random = seeded("months");
  const chart: Chart = { field: "mtime", kind: "date" };
  for (let round = 0; round < 300; round++) {
    const span = random.pick([1, 3, 12, 40, 300, 2000]);
    const buckets = Array.from({ length: 1 + random.below(20) }, () => {
      const at = new Date(Date.UTC(2026, -random.below(span * 12), 1));
      return { value: at.toISOString(), count: 1 + random.below(5) };
    });
    const all = bins(chart, buckets);
    assert.ok(all.length > 0 && all.length <= 72);
    assert.equal(
      all.reduce((sum, bin) => sum + bin.count, 0),
      buckets.reduce((sum, bucket) => sum + bucket.count, 0),
    );
    all.slice(1).forEach((bin, at) => assert.equal(bin.from, all[at]?.to));
    const [first, last] = [random.below(all.length), random.below(all.length)].sort(
      (one, other) => one - other,
    ) as [number, number];
    assert.deepEqual(binsOfBounds(chart, all, boundsOfBins(chart, all, first, last)), [first, last]);
  }
});

test("bars that begin in the middle of a step are no more than others", () => {
  const month = (at: number): string => new Date(Date.UTC(2000, at, 1)).toISOString();
  const dates = [2, 217].map((at) => ({ value: month(at), count: 1 }));
  assert.equal(bins({ field: "mtime", kind: "date" }, dates).length, 19);
  const years = [1861, 2004].map((value) => ({ value, count: 1 }));
  assert.equal(bins({ field: "year", kind: "every" }, years).length, 29);
});

test("bars of sizes are powers of two, and their bounds go into queries and back", () => {
  const chart: Chart = { field: "size", kind: "size" };
  assert.match(chartFacet(chart), /^size:ranges:0\.\.1,1\.\.1KiB,1KiB\.\.2KiB,.*,1PiB\.\.$/);
  const all = bins(chart, [
    { value: "", from: null, to: 1, count: 2 },
    { value: "", from: 4096, to: 8192, count: 5 },
  ]);
  assert.deepEqual(
    all.map((bin) => bin.count),
    [2, 0, 0, 0, 5],
  );
  assert.deepEqual(boundsOfBins(chart, all, 4, 2), { from: "1KiB", to: "8KiB" });
  assert.deepEqual(boundsOfBins(chart, all, 0, 1), { from: null, to: "1KiB" });
  assert.deepEqual(binsOfBounds(chart, all, { from: "1KiB", to: "8KiB" }), [2, 4]);
  assert.equal(binsOfBounds(chart, all, { from: "x", to: null }), null);
});

test("years are joined if they are many", () => {
  const years = Array.from({ length: 200 }, (_, at) => ({ value: 1825 + at, count: 1 }));
  const all = bins({ field: "year", kind: "every" }, years);
  assert.ok(all.length <= 72);
  assert.equal(
    all.reduce((sum, bin) => sum + bin.count, 0),
    200,
  );
});

test("classes of age meet, and the facet has one range for each", () => {
  const now = Date.UTC(2026, 10, 27);
  assert.equal(ageClass("2026-11-20T00:00:00Z", now), 0);
  assert.equal(ageClass("2030-01-01T00:00:00Z", now), 0);
  assert.equal(ageClass("1999-01-01T00:00:00Z", now), AGES.length - 1);
  assert.equal(ageClass(null, now), null);
  const bounds = ageBounds(now);
  bounds.slice(1).forEach((age, at) => assert.equal(age.to, bounds[at]?.from));
  assert.equal(ageFacet("mtime", now).split(",").length, AGES.length);
});

test("tiles lie inside of the map, and siblings do not overlap, on random trees", () => {
  const random = seeded("tiles");
  const node = (path: string, bytes: number): UsageNode => ({
    name: path,
    path,
    kind: "directory",
    count: 1,
    size: bytes,
    newest: null,
  });
  for (let round = 0; round < 100; round++) {
    const top = Array.from({ length: 1 + random.below(30) }, (_, at) =>
      node(`/${at}`, random.logarithmic(1, 1e12)),
    );
    const inside = new Map([
      [
        "/0",
        Array.from({ length: random.below(20) }, (_, at) => node(`/0/${at}`, random.logarithmic(1, 1e9))),
      ],
    ]);
    const drawn = tiles(top, inside, random.pick(["size", "count"]), 900, 480);
    for (const tile of drawn) {
      assert.ok(tile.x >= 0 && tile.y >= 0 && tile.x + tile.width <= 901 && tile.y + tile.height <= 481);
      const siblings = drawn.filter((other) => other.inner === tile.inner && other !== tile);
      const apart = (other: (typeof drawn)[number]): boolean =>
        other.x >= tile.x + tile.width ||
        tile.x >= other.x + other.width ||
        other.y >= tile.y + tile.height ||
        tile.y >= other.y + other.height;
      assert.ok(siblings.every(apart));
    }
  }
});

test("figures are short", () => {
  assert.deepEqual([0, 1023, 1024, 1536, 2 ** 40, 123456789].map(size), [
    "0 B",
    "1023 B",
    "1 KiB",
    "1.5 KiB",
    "1 TiB",
    "118 MiB",
  ]);
  assert.deepEqual([0o100644, 0o41777, 0o104755].map(mode), ["-rw-r--r--", "drwxrwxrwt", "-rwsr-xr-x"]);
  assert.deepEqual([percent(0, 9), percent(1, 1000), percent(1, 3)], ["0 %", "< 1 %", "33 %"]);
  assert.equal(valueText("inode", 249130), "249130", "a number that names something is no amount");
  assert.equal(valueText("links", 2491), "2,491");
});

test("hidden characters are shown, and others stay", () => {
  assert.equal(visible("invoice\u202efdp.exe"), "invoice\\u202efdp.exe");
  assert.equal(visible("a\nb\u001b[31m\u0007\u{e0041}"), "a\\nb\\x1b[31m\\x07\\u{e0041}");
  assert.equal(visible("שלום 日本語 é <b>&amp;"), "שלום 日本語 é <b>&amp;");
  assert.deepEqual(pieces("a\nb", true), [{ text: "a\nb", escaped: false }]);
});

test("the beginning of a table is read as spreadsheets read it", () => {
  assert.deepEqual(csvRows('a,"b ""x"", c"\r\n1,"two\nlines"\n', ",", 10), [
    ["a", 'b "x", c'],
    ["1", "two\nlines"],
  ]);
  assert.equal(csvRows("a\nb\nc\n", ",", 2).length, 2);
  assert.deepEqual(
    [separatorOf("a.csv", "x;y;z\n1,2"), separatorOf("a.tsv", ""), separatorOf("a.txt", "a,b")],
    [";", "\t", null],
  );
  assert.equal(prettyJson("a.json", '{"a":[1]}'), '{\n  "a": [\n    1\n  ]\n}');
  assert.equal(prettyJson("a.txt", "{not json"), null);
});

test("rows of growth are sorted by the change, and marked where all is new or gone", () => {
  const node = (name: string, before: [number, number], after: [number, number]): GrowthNode => ({
    name,
    path: `/${name}`,
    kind: "directory",
    before: { count: before[0], size: before[1] },
    after: { count: after[0], size: after[1] },
  });
  const nodes = [node("a", [1, 10], [2, 30]), node("b", [0, 0], [1, 0]), node("c", [3, 50], [0, 0])];
  const short = (by: "size" | "count") =>
    growthRows(nodes, by).map((row) => [row.node.name, row.change[by], row.bar, row.mark]);
  assert.deepEqual(short("size"), [
    ["c", -50, -1, "gone"],
    ["a", 20, 0.4, null],
    ["b", 0, 0, "new"],
  ]);
  assert.deepEqual(
    short("count").map(([name, by]) => [name, by]),
    [
      ["c", -3],
      ["a", 1],
      ["b", 1],
    ],
  );
  assert.deepEqual(growthRows([], "size"), []);
  assert.deepEqual([change(2048, size), change(-1200, count), change(0, size)], ["+2 KiB", "−1,200", "0"]);
});
