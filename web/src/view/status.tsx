// The line about the index that is always visible: its size, its age, and what it misses.

import type { JSX } from "preact";

import type { Indexes, IndexInfo } from "../api/types";
import { usePage } from "../state/page";
import * as format from "../text/format";
import { Icon } from "./icon";
import { Shown } from "./shown";

/** An index older than this is said to be old. */
const OLD_SECONDS = 7 * 86400;

export function Status({ all }: { all: Indexes }): JSX.Element {
  const { info } = usePage();
  const old = info.age_seconds > OLD_SECONDS;
  return (
    <div class="status">
      <span>
        <strong>{format.count(info.documents)}</strong> {info.documents === 1 ? "document" : "documents"}
      </span>
      <span class={old ? "warned" : undefined} title={info.committed}>
        {old && <Icon name="warning" />} as of {format.duration(info.age_seconds)} ago
      </span>
      <Completeness info={info} />
      {all.trimmed && <span>only what {all.user?.name ?? "you"} may see</span>}
    </div>
  );
}

function Completeness({ info }: { info: IndexInfo }): JSX.Element {
  const { complete, text, inputs, failed, unread_directories: unread } = info.completeness;
  if (complete) {
    return (
      <span>
        <Icon name="check" /> complete
      </span>
    );
  }
  return (
    <details class="incomplete">
      <summary class="warned">
        <Icon name="warning" /> incomplete: {summary(failed, unread)}
      </summary>
      <div class="panel left">
        <p>{text ?? "Some inputs are missing from the index."}</p>
        {inputs !== undefined && inputs.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">Input</th>
                <th scope="col">Reason</th>
              </tr>
            </thead>
            <tbody>
              {inputs.map((input, at) => (
                <tr key={at}>
                  <td class="name">
                    <Shown text={input.key} />
                  </td>
                  <td>
                    <Shown text={input.reason} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </details>
  );
}

function summary(failed = 0, unread = 0): string {
  const parts: string[] = [];
  if (failed > 0) parts.push(`${format.count(failed)} ${failed === 1 ? "input" : "inputs"} failed`);
  if (unread > 0)
    parts.push(`${format.count(unread)} ${unread === 1 ? "directory" : "directories"} not read`);
  return parts.length === 0 ? "see why" : parts.join(", ");
}
