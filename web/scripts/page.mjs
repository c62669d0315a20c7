// What the built page is: one script, one style sheet and an icon with hashes in their names, and index.html.

import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

export const root = process.env.SCANNS_WEB ?? join(dirname(fileURLToPath(import.meta.url)), "..");

/** All files of the page together, compressed, in bytes. */
export const MOST_BYTES = 100_000;

/** The licenses of what is in the script. */
async function licenses() {
  const texts = await Promise.all(
    ["preact", "d3-hierarchy"].map(
      async (name) => `${name}\n\n${await readFile(join(root, "node_modules", name, "LICENSE"), "utf8")}`,
    ),
  );
  return texts.join("\n\n");
}

/** The files of the page: names in dist/, and contents. */
export async function page() {
  const bundled = await build({
    absWorkingDir: root,
    entryPoints: { main: "src/main.tsx", style: "src/style/style.css" },
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2022", "chrome108", "firefox115", "safari16.4"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    charset: "utf8",
    outdir: "out",
    write: false,
    logLevel: "error",
  });
  const sources = new Map(
    bundled.outputFiles.map((file) => [file.path.split("/").at(-1), Buffer.from(file.contents)]),
  );
  sources.set("icon.svg", await readFile(join(root, "src/icon.svg")));
  const files = new Map([["assets/licenses.txt", Buffer.from(await licenses())]]);
  let html = await readFile(join(root, "src/index.html"), "utf8");
  for (const [name, contents] of sources) {
    const hash = createHash("sha256").update(contents).digest("hex").slice(0, 12);
    const hashed = `assets/${name.replace(/\.(\w+)$/, `-${hash}.$1`)}`;
    files.set(hashed, contents);
    html = html.replace(`{{${name}}}`, hashed);
  }
  return files.set("index.html", Buffer.from(html));
}

/** The size of all files, each compressed with gzip. */
export function compressed(files) {
  return [...files.values()].reduce((sum, contents) => sum + gzipSync(contents, { level: 9 }).length, 0);
}

/** The files in dist/. */
export async function built() {
  const entries = await readdir(join(root, "dist"), { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return new Map(
    await Promise.all(
      files.map(async (file) => [file.slice(join(root, "dist").length + 1), await readFile(file)]),
    ),
  );
}

/** What differs between dist/ and the sources. */
export async function differences(wanted) {
  const found = await built();
  const changed = [...wanted]
    .filter(([name, contents]) => !found.get(name)?.equals(contents))
    .map(([name]) => name);
  return [...changed, ...[...found.keys()].filter((name) => !wanted.has(name))];
}
