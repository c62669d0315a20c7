// Bundles TypeScript files of test/ into a folder below node_modules, so that Node can run them.

import { join } from "node:path";

import { build } from "esbuild";

/** Bundles files, given by paths relative to the root; returns the folder with the same names and .mjs. */
export async function bundle(root, files) {
  const out = join(root, "node_modules/.cache/scanns-web");
  await build({
    absWorkingDir: root,
    entryPoints: files,
    outbase: "test",
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["playwright-core", "axe-core", "esbuild"],
    jsx: "automatic",
    jsxImportSource: "preact",
    sourcemap: "inline",
    logLevel: "error",
  });
  return out;
}
