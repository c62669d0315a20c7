// The line above the results: views, order, columns, downloads, and the search as a command.

import type { JSX } from "preact";

import type { Indexes } from "../api/types";
import { descends, shownFields, showable, sortable } from "../state/fields";
import { usePage } from "../state/page";
import { askedOf } from "../state/results";
import type { View } from "../state/url";
import type { Asked, Reach } from "../text/copy-as";
import { asCommand, asCurl, asPython, curlNote, exportPath } from "../text/copy-as";
import { copyText } from "./copy";
import { Icon } from "./icon";
import { Menu } from "./menu";
import { ownerFields } from "./owners";

/** The views. One that the index does not allow is there, too, and says why. */
export function Views(): JSX.Element {
  const { state, info, others, go } = usePage();
  const views: [View, string, possible: boolean][] = [
    ["results", "Results", true],
    ["map", "Map", info.sizes],
    ["owners", "Owners and ages", ownerFields(info) !== null],
    ["growth", "Growth", info.sizes && others.length > 0],
  ];
  return (
    <nav class="views" aria-label="Views">
      {views.map(([view, label, possible]) => (
        <button
          key={view}
          type="button"
          class={possible ? undefined : "lacking"}
          title={possible ? undefined : "Not of this index: a click says why"}
          aria-current={state.view === view ? "page" : undefined}
          onClick={() =>
            go({
              view,
              ...(view === "map" ? {} : { map: "" }),
              ...(view === "growth" ? {} : { below: null }),
            })
          }
        >
          {label}
        </button>
      ))}
    </nav>
  );
}

interface ToolbarProperties {
  /** True if there is no answer: a copied search or a download would fail, too. */
  broken: boolean;
  /** Whether a narrow page shows the filters. */
  unfolded: boolean;
  unfold: () => void;
}

export function Toolbar({ broken, unfolded, unfold }: ToolbarProperties): JSX.Element {
  const { state, info, index } = usePage();
  const asked = askedOf(info, state, index.path);
  return (
    <div class="toolbar">
      {state.like === null && (
        <button
          type="button"
          class="quiet unfold"
          aria-expanded={unfolded}
          aria-controls="filters"
          onClick={unfold}
        >
          Filters
        </button>
      )}
      {state.like === null && <Order />}
      <Columns />
      {state.like === null && <Download asked={asked} disabled={broken} />}
      <CopyAs asked={asked} disabled={broken} />
    </div>
  );
}

function Order(): JSX.Element {
  const { state, info, go } = usePage();
  const orders: [string, string][] = [["", "best first"]];
  for (const name of sortable(info)) {
    const [first, second] = descends(info, name) ? ["desc", "asc"] : ["asc", "desc"];
    orders.push(
      [`${name}:${first}`, orderLabel(info.fields, name, first)],
      [`${name}:${second}`, orderLabel(info.fields, name, second)],
    );
  }
  orders.push(["key", "key, from A"], ["-key", "key, from Z"]);
  const known = orders.some(([order]) => order === state.sort);
  return (
    <label class="order">
      <span aria-hidden="true">Sort</span>
      <select
        aria-label="Sort"
        value={state.sort}
        onChange={(event) => go({ sort: event.currentTarget.value })}
      >
        {!known && <option value={state.sort}>{state.sort}</option>}
        {orders.map(([order, label]) => (
          <option key={order} value={order}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

function orderLabel(fields: { name: string; kind: string }[], name: string, direction: string): string {
  const kind = fields.find((field) => field.name === name)?.kind;
  const words =
    kind === "keyword"
      ? ["from A", "from Z"]
      : kind === "date"
        ? ["oldest first", "newest first"]
        : ["least first", "greatest first"];
  return `${name}, ${direction === "asc" ? words[0] : words[1]}`;
}

function Columns(): JSX.Element {
  const { state, info, go } = usePage();
  const shown = shownFields(info, state);
  const toggle = (name: string): void =>
    go({ fields: shown.includes(name) ? shown.filter((each) => each !== name) : [...shown, name] }, true);
  return (
    <Menu label="Columns" side="right">
      {() => (
        <fieldset class="choices">
          <legend>Show these fields</legend>
          {showable(info).map((name) => (
            <label key={name}>
              <input type="checkbox" checked={shown.includes(name)} onChange={() => toggle(name)} /> {name}
            </label>
          ))}
        </fieldset>
      )}
    </Menu>
  );
}

const FORMATS: [string, string, string][] = [
  ["csv", "CSV", "for spreadsheets"],
  ["jsonl", "JSON lines", "an object a line"],
  ["arrow", "Arrow", "for pandas and Polars"],
  ["parquet", "Parquet", "small, typed"],
];

interface OfSearch {
  asked: Asked;
  disabled: boolean;
}

function Download({ asked, disabled }: OfSearch): JSX.Element {
  return (
    <Menu label="Download" side="right" disabled={disabled}>
      {(close) => (
        <div class="choices">
          <p class="fine">All hits of the query, with the shown columns</p>
          {FORMATS.map(([format, name, use]) => (
            <a key={format} href={exportPath(asked, format)} download="" onClick={() => setTimeout(close)}>
              {name} <span class="fine">{use}</span>
            </a>
          ))}
        </div>
      )}
    </Menu>
  );
}

/** The search as texts, each with a note. Users cannot read the files of the index, but ask its server. */
function texts(asked: Asked, all: Indexes): [name: string, text: string, note: string | null][] {
  const reach: Reach = {
    page: new URL(".", location.href).href,
    by: all.recognized_by ?? null,
    socket: all.socket ?? null,
  };
  const own = "Reads the index itself, on its machine, and needs no server.";
  const curl: [string, string, string | null] = ["curl", asCurl(asked, reach), curlNote(reach)];
  return all.trimmed ? [curl] : [["Command", asCommand(asked), own], ["Python", asPython(asked), own], curl];
}

function CopyAs({ asked, disabled }: OfSearch): JSX.Element {
  const { all, say } = usePage();
  const copy = async (text: string): Promise<void> =>
    say((await copyText(text)) ? "copied" : "the browser does not allow copying");
  return (
    <Menu label="Copy as" side="right" disabled={disabled}>
      {() => (
        <div class="copy-as">
          {texts(asked, all).map(([name, text, note]) => (
            <section key={name}>
              <h2>{name}</h2>
              <button
                type="button"
                class="quiet"
                aria-label={`Copy as ${name}`}
                onClick={() => void copy(text)}
              >
                <Icon name="copy" /> Copy
              </button>
              <pre tabIndex={0} aria-label={name}>
                {text}
              </pre>
              {note !== null && <p class="fine">{note}</p>}
            </section>
          ))}
        </div>
      )}
    </Menu>
  );
}
