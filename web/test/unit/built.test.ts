// The built page: what the sources give, small, and without anything that the policy of the server forbids.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { MOST_BYTES, built, compressed, differences, page } from "../../scripts/page.mjs";

const root = process.env["SCANNS_WEB"] ?? process.cwd();
const MOST_COLUMNS = 110;
const MOST_LINES = 500;
const MOST_FUNCTION_LINES = 70;

test("web/dist is what the sources give", async () => {
  assert.deepEqual(await differences(await page()), [], "run make web, and commit web/dist");
});

test("the page has at most 100 kB, compressed", async () => {
  const bytes = compressed(await built());
  console.log(`web/dist: ${bytes} bytes compressed`);
  assert.ok(bytes <= MOST_BYTES);
});

test("the page needs no inline script or style, no eval, and nothing from elsewhere", async () => {
  const files = await built();
  const html = String(files.get("index.html"));
  assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i);
  for (const [, link = ""] of html.matchAll(/(?:src|href)="([^"]*)"/g))
    assert.doesNotMatch(link, /^(\/|\w+:)/);
  const script = [...files]
    .filter(([name]) => name.endsWith(".js"))
    .map(([, contents]) => String(contents))
    .join("");
  assert.doesNotMatch(script, /\beval\(|new Function|\bimport\(/);
  const links = [...script.matchAll(/https?:\/\/[\w./-]+/g)]
    .map(([link]) => link)
    .filter((link) => !link.startsWith("http://www.w3.org/"));
  assert.deepEqual(links, []);
});

test("the template has each marker for the server once", async () => {
  const html = String((await built()).get("index.html"));
  const markers = [...html.matchAll(/<!--scanns:(\w+)-->/g)].map(([, name]) => name);
  assert.deepEqual(markers.sort(), ["index", "q", "results", "status", "title"]);
});

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|tsx|mjs|css)$/.test(name))
    .map((name) => join(folder, name));
}

/** The functions of a file that are too long, by their first lines. */
function longFunctions(lines: string[]): string[] {
  const starts = lines.flatMap((line, at) => (/^(export )?(async )?function /.test(line) ? [at] : []));
  const length = (start: number): number =>
    lines.findIndex((line, at) => at > start && line.startsWith("}")) - start + 1;
  return starts.filter((start) => length(start) > MOST_FUNCTION_LINES).map((start) => lines[start] ?? "");
}

test("files, functions, lines and their beginnings follow the rules of the project", () => {
  for (const name of ["src", "test", "scripts"].flatMap(sources)) {
    const lines = readFileSync(join(root, name), "utf8").split("\n");
    assert.ok(lines.length <= MOST_LINES, `${name} has ${lines.length} lines`);
    const long = lines.findIndex((line) => line.length > MOST_COLUMNS);
    assert.equal(long, -1, `${name}:${long + 1} is longer than ${MOST_COLUMNS} columns`);
    assert.deepEqual(longFunctions(lines), [], name);
    assert.match(lines[0] ?? "", /^(\/\/ |\/\* |@import)/, `${name} must begin with what it is`);
    if (name.startsWith("src"))
      assert.doesNotMatch(lines.join("\n"), /: any\b|as any\b|<any>|@ts-ignore/, name);
  }
});
