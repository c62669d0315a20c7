// Runs all tests: npm test, or npm test PART for files whose path contains PART. Prints "N passed, N failed".

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";

import { bundle } from "./bundle.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const part = process.argv[2] ?? "";

/** A test file that takes longer than this has failed. */
const MOST_MILLISECONDS = 900_000;

const names = readdirSync(join(root, "test"), { recursive: true })
  .filter((name) => name.endsWith(".test.ts") && name.includes(part))
  .map((name) => join("test", name));
const out = await bundle(root, names);
const files = names.map((name) => join(out, name.slice("test/".length).replace(/\.ts$/, ".mjs")));
process.env.SCANNS_WEB = root;
process.chdir(root);

const sums = { passed: 0, failed: 0 };

/** Counts a result. Those of whole files count only if they failed by themselves, not by a test in them. */
function count(ok, { name, details, skip }) {
  const isFile = files.includes(name) || name.endsWith(".mjs");
  if (isFile && (ok || details.error?.failureType === "subtestsFailed")) return;
  sums[ok ? "passed" : "failed"] += 1;
  const time = `${Math.round(details.duration_ms)} ms`;
  console.log(
    ok ? `test ${name} ... ${skip === undefined ? "ok" : "SKIPPED"}, ${time}` : `test ${name} ... FAILED`,
  );
  if (!ok) console.log(details.error?.cause?.stack ?? details.error?.message ?? "");
}

if (part === "") {
  const types = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "--noEmit"], {
    encoding: "utf8",
  });
  count(types.status === 0, {
    name: "the types are right",
    details: { duration_ms: 0, error: { message: types.stdout + types.stderr } },
  });
}
for await (const { type, data } of run({ files, concurrency: 2, timeout: MOST_MILLISECONDS })) {
  if (type === "test:pass") count(true, data);
  if (type === "test:fail") count(false, data);
  if (type === "test:stdout" || type === "test:stderr") process.stdout.write(data.message);
}
console.log(
  `test result: ${sums.failed === 0 ? "ok" : "FAILED"}. ${sums.passed} passed; ${sums.failed} failed;`,
);
console.log(`${sums.passed} passed, ${sums.failed} failed`);
process.exitCode = sums.failed === 0 && sums.passed > 0 ? 0 : 1;
