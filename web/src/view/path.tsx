// The name of a document: a path whose directories filter, or the title of a record.

import type { JSX } from "preact";

import { only } from "../query/edit";
import { usePage } from "../state/page";
import type { DocumentKey } from "../text/keys";
import { visible } from "../text/show";
import { Shown } from "./shown";

/** A directory of a path: its name, and the path down to it. */
interface Step {
  name: string;
  path: string;
}

/** The directories of a path and its last name. */
export function steps(path: string): { directories: Step[]; last: string } {
  const names = path.split("/");
  const last = names.pop() ?? "";
  const directories = names.map((name, at) => ({ name, path: names.slice(0, at + 1).join("/") || "/" }));
  return { directories, last };
}

/** The directories of a document; each filters the results, but for names that are not UTF-8. */
export function Directories({ of }: { of: DocumentKey }): JSX.Element | null {
  const { state, go } = usePage();
  const { directories } = steps(of.text);
  if (directories.length === 0) return null;
  return (
    <span class="path" role="group" aria-label="Directories">
      {directories.map(({ name, path }, at) => {
        const shown = name === "" ? "/" : name;
        const ask = (): void => go({ q: only(state.q, "path", path), view: "results" });
        return (
          <span key={at} class="step">
            {at > 0 && directories[at - 1]?.name !== "" && <span class="slash">/</span>}
            {of.bytes === null ? (
              <button type="button" class="plain" title={`Only below ${visible(path)}`} onClick={ask}>
                <Shown text={shown} />
              </button>
            ) : (
              <Shown text={shown} />
            )}
          </span>
        );
      })}
    </span>
  );
}
