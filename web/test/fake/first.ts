// The page with its first answer, as the server makes it: the markers of the template are replaced.

import { search } from "./answers";
import type { FakeIndex } from "./documents";

/** Text for HTML, also inside of an attribute in quotes. */
function escape(text: string): string {
  const named: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (character) => named[character] ?? character);
}

export function firstAnswer(
  template: string,
  indexes: Map<string, FakeIndex>,
  query: URLSearchParams,
): string {
  const index = indexes.get(query.get("index") ?? "fs");
  const q = query.get("q") ?? "";
  const marks: Record<string, string> = {
    title: escape(q === "" ? "scanns" : `${q} – scanns`),
    index: escape(index?.name ?? ""),
    q: escape(q),
    status: index === undefined ? "" : `<span>${index.documents.length} documents</span>`,
    results: index === undefined ? "<p>There is no such index.</p>" : results(index, q),
  };
  return template.replace(/<!--scanns:(\w+)-->/g, (_, name: string) => marks[name] ?? "");
}

function results(index: FakeIndex, q: string): string {
  try {
    const given = {
      one: (name: string) => (name === "q" ? q : name === "limit" ? "20" : null),
      many: () => [],
    };
    const { count, hits } = search(index, given);
    const items = hits.map(
      (hit) => `<li class="hit" value="${hit.rank}"><bdi class="hit-name">${escape(hit.key)}</bdi></li>`,
    );
    return `<p class="count"><strong>${count} documents</strong></p><ol class="hits">${items.join("")}</ol>`;
  } catch (error) {
    return `<p class="notice error">${escape(error instanceof Error ? error.message : String(error))}</p>`;
  }
}
