// The line about the index that is always visible: its size, its age, and what it misses.

import type { JSX } from "preact";

import type { Indexes, IndexInfo } from "../api/types";
import { usePage } from "../state/page";
import * as format from "../text/format";
import { Icon } from "./icon";

/** An index older than this is said to be old. */
const OLD_SECONDS = 7 * 86400;

export function Status({ all }: { all: Indexes }): JSX.Element {
  const { info } = usePage();
  const age = info.age_seconds ?? 0;
  const old = age > OLD_SECONDS;
  return (
    <div class="status">
      <span>
        <strong>{format.count(info.documents)}</strong> {info.documents === 1 ? "document" : "documents"}
      </span>
      {info.age_seconds !== null && (
        <span class={old ? "warned" : undefined} title={info.committed ?? undefined}>
          {old && <Icon name="warning" />} as of {format.duration(age)} ago
        </span>
      )}
      <Completeness info={info} trimmed={all.trimmed} />
      {all.trimmed && <span>only what {all.user?.name ?? "you"} may see</span>}
    </div>
  );
}

/** What the index misses, as a button that opens the whole list. */
function Completeness({ info, trimmed }: { info: IndexInfo; trimmed: boolean }): JSX.Element {
  const { go } = usePage();
  const { completeness } = info;
  const unread = completeness?.unread ?? 0;
  const paths = `${format.count(unread)} ${unread === 1 ? "path" : "paths"} not read`;
  const open = (): void => go({ coverage: true });
  const warned = completeness !== null;
  return (
    <button
      type="button"
      class={warned ? "complete warned" : "complete"}
      aria-haspopup="dialog"
      onClick={open}
    >
      {(warned || !trimmed) && <Icon name={warned ? "warning" : "check"} />}{" "}
      {warned ? `incomplete${unread > 0 ? `: ${paths}` : ""}` : trimmed ? "completeness" : "complete"}
    </button>
  );
}
