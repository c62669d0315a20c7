// Saved searches: links with names, kept in this browser; a file takes them to another one.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { usePage } from "../state/page";
import type { SavedSearch } from "../state/stored";
import { exported, imported, readSaved, writeSaved } from "../state/stored";
import { readState, writeState } from "../state/url";
import { visible } from "../text/show";
import { Icon } from "./icon";
import { Menu } from "./menu";
import { Shown } from "./shown";

export function Saved(): JSX.Element {
  return (
    <Menu label="Saved" side="right">
      {(close) => <SavedPanel close={close} />}
    </Menu>
  );
}

function SavedPanel({ close }: { close: () => void }): JSX.Element {
  const { state, go, say } = usePage();
  const [saved, setSaved] = useState(readSaved);
  const [name, setName] = useState(state.q);
  const keep = (next: SavedSearch[]): void => {
    setSaved(next);
    if (!writeSaved(next)) say("this browser stores nothing: the list is lost with the page");
  };
  const add = (event: Event): void => {
    event.preventDefault();
    const item = {
      name: name.trim() === "" ? "all documents" : name.trim(),
      search: writeState({ ...state, open: null, after: [] }) || "?",
    };
    keep([item, ...saved.filter((each) => each.name !== item.name)]);
    say("saved");
  };
  return (
    <div class="saved">
      <form onSubmit={add}>
        <input
          type="text"
          aria-label="Name of the search"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit">Save this search</button>
      </form>
      {saved.length === 0 ? <p class="fine">No search is saved yet.</p> : null}
      <ul>
        {saved.map((item) => (
          <li key={item.name}>
            <a
              href={`./${item.search}`}
              onClick={(event) => {
                event.preventDefault();
                go(readState(item.search));
                close();
              }}
            >
              <Shown text={item.name} />
            </a>
            <button
              type="button"
              class="plain"
              aria-label={`Remove ${visible(item.name)}`}
              onClick={() => keep(saved.filter((each) => each !== item))}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      <Transfer changed={() => setSaved(readSaved())} />
    </div>
  );
}

/** Writes saved searches and earlier queries to a file, or adds those of one. */
function Transfer({ changed }: { changed: () => void }): JSX.Element {
  const { say } = usePage();
  const write = (): void => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([exported()], { type: "application/json" }));
    link.download = "scanns-searches.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const found = imported(await file.text());
    changed();
    say(found === null ? "the file has no saved searches" : `${found} searches read`);
  };
  return (
    <p class="transfer">
      <button type="button" class="link" onClick={write}>
        Export to a file
      </button>
      <label class="link">
        Import a file
        <input
          type="file"
          accept="application/json,.json"
          class="offscreen"
          onChange={(event) => void read(event.currentTarget.files?.[0])}
        />
      </label>
    </p>
  );
}
