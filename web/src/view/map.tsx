// The map of a directory: an area for each entry, by its size or its number of documents, shaded by its age.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import * as api from "../api/client";
import type { UsageAnswer, UsageNode } from "../api/types";
import { AGES, ageClass } from "../charts/ages";
import type { Tile } from "../charts/treemap";
import { tiles } from "../charts/treemap";
import { only } from "../query/edit";
import { useLatest } from "../state/latest";
import { usePage } from "../state/page";
import type { Measure } from "../state/url";
import * as format from "../text/format";
import { visible } from "../text/show";
import { Figure } from "./figure";
import { Icon } from "./icon";
import { Notice } from "./notice";
import { Shown } from "./shown";

/** Directories whose entries are drawn too. */
const MOST_OPENED = 8;
/** Directories with nothing but one directory in them that are followed. */
const MOST_DEPTH = 16;
const HEIGHT = 480;

interface MapAnswer {
  top: UsageAnswer;
  inside: Map<string, UsageNode[]>;
}

async function askMap(index: string, path: string, by: Measure, signal: AbortSignal): Promise<MapAnswer> {
  const top = await api.usage(index, path, by, signal);
  const largest = [...top.children].sort((one, other) => other[by] - one[by]);
  const opened = await Promise.all(
    largest.slice(0, MOST_OPENED).map((node) => open(index, node, by, signal)),
  );
  return {
    top: { ...top, children: [...opened.map(({ node }) => node), ...largest.slice(MOST_OPENED)] },
    inside: new Map(opened.map(({ node, entries }) => [node.path, entries])),
  };
}

/**
 * A directory and its entries. In place of one with only another one in it stands that one: share/doc.
 */
async function open(
  index: string,
  outer: UsageNode,
  by: Measure,
  signal: AbortSignal,
): Promise<{ node: UsageNode; entries: UsageNode[] }> {
  let node = outer;
  for (let depth = 0; node.kind === "directory" && askable(node); depth++) {
    const { children } = await api.usage(index, node.path, by, signal);
    const [only] = children;
    const isAlone = only?.kind === "directory" && askable(only) && only.count === node.count;
    if (only === undefined || !isAlone || depth === MOST_DEPTH) return { node, entries: children };
    node = { ...only, name: `${node.name}/${only.name}` };
  }
  return { node, entries: [] };
}

/** False for paths that are not UTF-8, which a query cannot name. */
const askable = (node: UsageNode): boolean => typeof node.path_bytes !== "string";

/** The name of an entry; the files of the directory itself have none. */
const nameOf = (node: UsageNode): string => (node.kind === "files" ? "files in it" : node.name);

export function DirectoryMap(): JSX.Element {
  const { state, go, info } = usePage();
  const [again, setAgain] = useState(0);
  const question = JSON.stringify([state.index, info.generation, state.map, state.by, again]);
  const { value, problem, loading } = useLatest(info.sizes ? question : null, (signal) =>
    askMap(state.index, state.map, state.by, signal),
  );
  if (!info.sizes) return <NoSizes />;
  if (problem !== null) return <Notice problem={problem} retry={() => setAgain(again + 1)} />;
  if (value === null) return <p class="fine empty">…</p>;
  const { top } = value;
  const shown = [...top.children].sort((one, other) => other[state.by] - one[state.by]);
  const table = {
    heads: ["name", "kind", "documents", "size", "newest", "share"],
    rows: shown.map((node) => [
      visible(nameOf(node)),
      node.kind,
      node.count,
      format.size(node.size),
      node.newest === null ? "" : format.date(node.newest),
      format.percent(node[state.by], top.total[state.by]),
    ]),
  };
  return (
    <Figure
      kind="map"
      title={<MapPath path={top.path} />}
      busy={loading}
      table={table}
      controls={
        <span class="chosen">
          {format.size(top.total.size)} in {format.count(top.total.count)}
          <Measures by={state.by} choose={(by) => go({ by })} />
        </span>
      }
    >
      <Tiles answer={value} by={state.by} />
      <Legend />
      <p class="fine">
        All that is below this directory, whatever the query is. A click on a directory also limits the query
        to it.
        {!info.entries && " The index has regular files alone: directories and links take no space here."}
      </p>
    </Figure>
  );
}

/** Why an index has no map and no growth. */
export function NoSizes(): JSX.Element {
  return (
    <p class="fine empty">
      The documents of this index have no paths and sizes, which this view sums up by directory. An index of
      directories has them: scanns index -o files.scanns DIRECTORY.
    </p>
  );
}

/** The choice between sizes and numbers. */
export function Measures({ by, choose }: { by: Measure; choose: (by: Measure) => void }): JSX.Element {
  return (
    <span class="switch" role="group" aria-label="Measure">
      {(["size", "count"] as const).map((each) => (
        <button key={each} type="button" aria-pressed={by === each} onClick={() => choose(each)}>
          {each}
        </button>
      ))}
    </span>
  );
}

function MapPath({ path }: { path: string }): JSX.Element {
  const { state, go } = usePage();
  const trimmed = path.replace(/\/+$/, "");
  const up = trimmed.slice(0, trimmed.lastIndexOf("/"));
  const back = (): void => go({ map: up, q: only(state.q, "path", up === "" ? null : up) });
  return (
    <>
      {state.map !== "" && trimmed !== "" && (
        <button type="button" class="plain" aria-label="Up to the directory above" title="Up" onClick={back}>
          <Icon name="up" />
        </button>
      )}
      <span class="name">
        <Shown text={path === "" ? "/" : path} />
      </span>
    </>
  );
}

/** The width of an element, now and whenever it changes. */
function useWidth(): [preactRef: { current: HTMLDivElement | null }, width: number] {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return undefined;
    const watch = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    watch.observe(element.current);
    return () => watch.disconnect();
  }, []);
  return [element, width];
}

function Tiles({ answer, by }: { answer: MapAnswer; by: Measure }): JSX.Element {
  const [element, width] = useWidth();
  const height = width < 600 ? HEIGHT * 0.75 : HEIGHT;
  const drawn = width === 0 ? [] : tiles(answer.top.children, answer.inside, by, width, height);
  const empty = answer.top.children.every((node) => node[by] === 0);
  return (
    <div class="tiles" ref={element} style={{ height: `${height}px` }}>
      {empty && <p class="fine empty">nothing in this directory takes space</p>}
      {drawn.map((tile) => (
        <TileButton key={`${tile.inner ? "i" : "o"}${tile.node.path}`} tile={tile} by={by} />
      ))}
    </div>
  );
}

function TileButton({ tile, by }: { tile: Tile; by: Measure }): JSX.Element {
  const { state, go } = usePage();
  const { node } = tile;
  const name = nameOf(node);
  const age = ageClass(node.newest, Date.now());
  const amount = by === "size" ? format.size(node.size) : format.count(node.count);
  const ageName = age === null ? "age unknown" : (AGES[age]?.name ?? "");
  const open = (): void => {
    const q = only(state.q, "path", node.path);
    if (node.kind === "directory") go({ map: node.path, q });
    else go({ q, view: "results" });
  };
  const place = {
    left: `${tile.x}px`,
    top: `${tile.y}px`,
    width: `${tile.width}px`,
    height: `${tile.height}px`,
  };
  const roomy = tile.width > 56 && tile.height > 18;
  return (
    <button
      type="button"
      class={`tile age-${age ?? "none"}${tile.inner ? " inner" : ""}${tile.opened ? " opened" : ""}`}
      style={place}
      title={`${visible(name)}\n${amount}, ${node.kind}\nnewest: ${ageName}`}
      aria-label={`${visible(name)} ${amount} ${ageName}, ${node.kind}`}
      disabled={!askable(node)}
      onClick={open}
    >
      {roomy && (
        <span class="tile-name">
          <Shown text={name} /> {tile.width > 110 && <span class="amount">{amount}</span>}
        </span>
      )}
      {roomy && " "}
      {roomy && !tile.opened && tile.height > 44 && tile.width > 110 && (
        <span class="tile-age">{ageName}</span>
      )}
    </button>
  );
}

function Legend(): JSX.Element {
  return (
    <ul class="legend" aria-label="Age of the newest document">
      {AGES.map((age, at) => (
        <li key={age.name}>
          <span class={`swatch age-${at}`} /> {age.name}
        </li>
      ))}
    </ul>
  );
}
