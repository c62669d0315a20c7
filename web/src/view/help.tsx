// Help: the query language in a table of examples, the keys, and the settings of the page.

import type { JSX } from "preact";

import { usePage } from "../state/page";
import type { Settings } from "../state/stored";
import { forgetHistory } from "../state/stored";
import { Dialog } from "./dialog";

const QUERIES: [string, string][] = [
  ["license warranty", "any of the words; documents with more and rarer ones first"],
  ["+license -draft", "with the first word, without the second"],
  ["license AND (free OR open)", "AND, OR, NOT and parentheses"],
  ['"boundary layer"', "the words beside each other"],
  ["licen*   lisence~", "words with this beginning; words with nearly this spelling"],
  ["size:>1GiB   mtime:<now-2y", "larger; unchanged for two years. All conditions must hold"],
  ["size:[1MiB TO 1GiB}", "from 1 MiB on, below 1 GiB"],
  ["ext:(h5 nc)   -owner:root", "any of several values; without a value"],
  ["path:/data/anna", "a directory and all below it"],
  ['name:*.tmp   name:re"v[0-9]+"', "names that a pattern matches as a whole"],
];

const KEYS: [string, string][] = [
  ["/", "go to the query"],
  ["j, k", "next result, previous result"],
  ["Enter", "open the preview of the result"],
  ["Esc", "close what is open"],
  ["?", "this help"],
];

export function Help({ close }: { close: () => void }): JSX.Element {
  return (
    <Dialog title="Help" close={close}>
      <Pairs heading="Queries" pairs={QUERIES} code />
      <Pairs heading="Keys" pairs={KEYS} />
      <SettingsForm />
      <p class="fine">
        The page uses Preact and d3-hierarchy: <a href="assets/licenses.txt">their licenses</a>.
      </p>
    </Dialog>
  );
}

function Pairs({
  heading,
  pairs,
  code = false,
}: {
  heading: string;
  pairs: [string, string][];
  code?: boolean;
}): JSX.Element {
  return (
    <section>
      <h3>{heading}</h3>
      <dl class="pairs">
        {pairs.map(([term, meaning]) => (
          <div key={term}>
            <dt>{code ? <code>{term}</code> : <kbd>{term}</kbd>}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function SettingsForm(): JSX.Element {
  const { settings, change, say } = usePage();
  const themes: [Settings["theme"], string][] = [
    ["auto", "as the system"],
    ["light", "light"],
    ["dark", "dark"],
  ];
  return (
    <fieldset class="settings">
      <legend>Settings, kept in this browser</legend>
      <label>
        Colours{" "}
        <select
          value={settings.theme}
          onChange={(event) =>
            change({
              ...settings,
              theme: themes.find(([theme]) => theme === event.currentTarget.value)?.[0] ?? "auto",
            })
          }
        >
          {themes.map(([theme, label]) => (
            <option key={theme} value={theme}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label>
        <input
          type="checkbox"
          checked={settings.live}
          onChange={(event) => change({ ...settings, live: event.currentTarget.checked })}
        />{" "}
        search while typing
      </label>
      <label>
        <input
          type="checkbox"
          checked={settings.keys}
          onChange={(event) => change({ ...settings, keys: event.currentTarget.checked })}
        />{" "}
        single keys such as / and j
      </label>
      <button
        type="button"
        class="link"
        onClick={() => (forgetHistory(), say("earlier queries are forgotten"))}
      >
        Forget earlier queries
      </button>
    </fieldset>
  );
}
