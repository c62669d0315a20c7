// Serves the built page with made documents: npm run dev [PORT]. Run npm run build again after a change.

import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { bundle } from "./bundle.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = await bundle(root, ["test/fake/server.ts"]);
const { startFakeServer } = await import(pathToFileURL(join(out, "fake/server.mjs")).href);
const server = await startFakeServer(join(root, "dist"), "/", Number(process.argv[2] ?? 8080));
console.log(server.url);
