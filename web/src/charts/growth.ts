// The rows of the table of growth: what changed, and how long the bar of each change is.

import type { GrowthNode, Sums } from "../api/types";
import type { Measure } from "../state/url";

export interface GrowthRow {
  node: GrowthNode;
  /** The sums after, minus those before. */
  change: Sums;
  /** From -1 to 1: the part of the greatest change. */
  bar: number;
  /** new if there was nothing before, gone if there is nothing any more. */
  mark: "new" | "gone" | null;
}

export function difference(before: Sums, after: Sums): Sums {
  return { count: after.count - before.count, size: after.size - before.size };
}

function markOf({ before, after }: GrowthNode): GrowthRow["mark"] {
  if (before.count === after.count) return null;
  return before.count === 0 ? "new" : after.count === 0 ? "gone" : null;
}

/** The rows of a directory, the greatest change first. */
export function growthRows(nodes: GrowthNode[], by: Measure): GrowthRow[] {
  const rows = nodes.map((node) => ({ node, change: difference(node.before, node.after) }));
  const most = Math.max(1, ...rows.map(({ change }) => Math.abs(change[by])));
  return rows
    .sort((one, other) => Math.abs(other.change[by]) - Math.abs(one.change[by]))
    .map(({ node, change }) => ({ node, change, bar: change[by] / most, mark: markOf(node) }));
}
