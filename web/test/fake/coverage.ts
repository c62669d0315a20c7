// What the indexes of the fake server cover: one of them has failures, with names that try to break the page.

import type { CoverageAnswer, CoveredPlace, FailedInput } from "../../src/api/types";
import { keyParts } from "./answers";
import type { FakeIndex } from "./documents";
import { NOW } from "./documents";
import { HOSTILE_NAMES } from "./hostile";

const REASONS = [
  "Permission denied (os error 13)",
  "Input/output error (os error 5)",
  "<img src=x onerror=window.pwned=1>\u202e (os error 0)",
];

/** The inputs that the index could not read; it names fewer than there are. */
export const NAMED = 320;
const UNREAD = 340;

function failed(path: Buffer, reason: string): FailedInput {
  const { key, key_bytes } = keyParts(path);
  return { path: key, path_bytes: key_bytes, reason };
}

function failures(): FailedInput[] {
  const hostile = HOSTILE_NAMES.map((name, at) =>
    failed(Buffer.concat([Buffer.from("/data/lost/"), name]), REASONS[at % 3] ?? ""),
  );
  const plain = Array.from({ length: NAMED - hostile.length }, (_, at) =>
    failed(Buffer.from(`/data/emil/locked/run${at}`), REASONS[0] ?? ""),
  );
  return [...hostile, ...plain];
}

/** A record of a scan and of a dump; none of records. */
export function coverage(index: FakeIndex): CoverageAnswer {
  if (!index.fields.some((field) => field.name === "path")) return { covered: [] };
  const began = new Date(NOW - index.ageSeconds * 1000).toISOString();
  const scan: CoveredPlace = {
    path: "/data",
    format: null,
    began,
    entries: index.documents.length,
    complete: true,
    unread: index.complete ? 0 : UNREAD,
    failures: index.complete ? [] : failures(),
    left_out: [{ what: "other file systems", count: 2, first: "/data/<b>proc</b>\u202e" }],
  };
  const dump = { path: "/dumps/<b>cut</b>.gpfs", format: "gpfs", began, entries: 12, complete: false };
  return { covered: index.complete ? [scan] : [scan, { ...dump, unread: 0, failures: [], left_out: [] }] };
}
