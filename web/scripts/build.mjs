// Builds dist/ from src/, and fails if the page is too large. With --check, only says whether dist/ is up to
// date.

import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { MOST_BYTES, compressed, differences, page, root } from "./page.mjs";

const figure = (bytes) => bytes.toLocaleString("en-US");

async function main() {
  const files = await page();
  const bytes = compressed(files);
  console.log(
    `web/dist: ${files.size} files, ${figure(bytes)} of at most ${figure(MOST_BYTES)} bytes, compressed`,
  );
  if (bytes > MOST_BYTES) throw new Error("the page is too large: leave something out");
  if (process.argv.includes("--check")) {
    const stale = await differences(files);
    if (stale.length > 0)
      throw new Error(`web/dist is not what the sources give: make web (${stale.join(", ")})`);
    return;
  }
  await rm(join(root, "dist"), { recursive: true, force: true });
  for (const [name, contents] of files) {
    await mkdir(dirname(join(root, "dist", name)), { recursive: true });
    await writeFile(join(root, "dist", name), contents);
  }
}

await main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
