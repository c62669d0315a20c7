// How the directories of an index of the fake server have grown since another one.

import type { GrowthAnswer, GrowthNode, Sums, UsageNode } from "../../src/api/types";
import type { Given } from "./answers";
import { keyParts, usage } from "./answers";
import type { FakeIndex } from "./documents";

const NONE: Sums = { count: 0, size: 0 };
const sums = ({ count, size }: Sums): Sums => ({ count, size });

/** True if the index has directories with sizes. */
export function sizes(index: FakeIndex): boolean {
  return index.fields.some((field) => field.name === "size");
}

/** What is in a directory in both indexes; null if neither has it. */
export function growth(index: FakeIndex, before: FakeIndex, path: Buffer, given: Given): GrowthAnswer | null {
  const [old, now] = [usage(before, path), usage(index, path)];
  if ((old?.total.count ?? 0) + (now?.total.count ?? 0) === 0 && path.length > 0) return null;
  const nodes = new Map<string, GrowthNode>();
  const add = (side: "before" | "after", { newest: _, ...node }: UsageNode): void => {
    const key = `${node.kind} ${node.path_bytes ?? node.path}`;
    const { name, path: at, path_bytes, kind } = node;
    const empty = { name, path: at, kind, before: NONE, after: NONE };
    const known = nodes.get(key) ?? (path_bytes == null ? empty : { ...empty, path_bytes });
    nodes.set(key, { ...known, [side]: sums(node) });
  };
  old?.children.forEach((node) => add("before", node));
  now?.children.forEach((node) => add("after", node));
  const by = given.one("by") === "count" ? "count" : "size";
  const distance = (node: GrowthNode): number => Math.abs(node.after[by] - node.before[by]);
  const all = [...nodes.values()].sort((one, other) => distance(other) - distance(one));
  // Few enough for the journeys to see what is left out.
  const limit = Number(given.one("limit") ?? 100) === 100 ? 8 : all.length;
  const { key, key_bytes } = keyParts(path.length === 0 ? Buffer.from("/data") : path);
  return {
    with: before.name,
    path: key,
    ...(key_bytes === null ? {} : { path_bytes: key_bytes }),
    total: { before: sums(old?.total ?? NONE), after: sums(now?.total ?? NONE) },
    children: all.slice(0, limit),
    more: Math.max(0, all.length - limit),
    partial: index.name === "scratch",
  };
}
