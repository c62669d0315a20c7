// The rectangles of the map of directories.

import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy";

import type { UsageNode } from "../api/types";
import type { Measure } from "../state/url";

/** A rectangle in pixels; `inner` ones are what is in another one. */
export interface Tile {
  node: UsageNode;
  x: number;
  y: number;
  width: number;
  height: number;
  inner: boolean;
  /** True if what is in it is drawn, so that only its head has room for a name. */
  opened: boolean;
}

interface Branch {
  node: UsageNode | null;
  value: number;
  children: Branch[];
}

/** More rectangles than this cannot be told apart. */
export const MOST_TILES = 200;

/** Lays out the entries of a directory, and what is in those whose entries are known. */
export function tiles(
  entries: UsageNode[],
  inside: Map<string, UsageNode[]>,
  by: Measure,
  width: number,
  height: number,
): Tile[] {
  const leaf = (node: UsageNode): Branch => ({ node, value: node[by], children: [] });
  const top = largest(entries, by).map((node) => {
    const children = largest(inside.get(node.path) ?? [], by)
      .slice(0, 40)
      .map(leaf);
    return children.length === 0
      ? leaf(node)
      : { node, value: 0, children: [...children, rest(node, children, by)] };
  });
  const root = hierarchy<Branch>({ node: null, value: 0, children: top }, (branch) => branch.children)
    .sum((branch) => branch.value)
    .sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
  const layout = treemap<Branch>().tile(treemapSquarify.ratio(1.4)).size([width, height]).round(true);
  layout
    .paddingOuter((at) => (at.depth === 0 ? 0 : 2))
    .paddingTop((at) => (at.depth === 1 ? 20 : 0))
    .paddingInner(2);
  return layout(root)
    .descendants()
    .flatMap((at): Tile[] => {
      const { node } = at.data;
      if (node === null || at.x1 - at.x0 < 2 || at.y1 - at.y0 < 2) return [];
      const place = { x: at.x0, y: at.y0, width: at.x1 - at.x0, height: at.y1 - at.y0 };
      return [{ node, ...place, inner: at.depth > 1, opened: at.depth === 1 && at.data.children.length > 0 }];
    });
}

function largest(entries: UsageNode[], by: Measure): UsageNode[] {
  return [...entries].sort((one, other) => other[by] - one[by]).slice(0, MOST_TILES);
}

/** Space for the entries that are not drawn. */
function rest(node: UsageNode, drawn: Branch[], by: Measure): Branch {
  const known = drawn.reduce((sum, branch) => sum + branch.value, 0);
  return { node: null, value: Math.max(0, node[by] - known), children: [] };
}
