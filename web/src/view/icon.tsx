// The icons of the page, drawn in a square of 16 units. A label or a title beside each says what it means.

import type { JSX } from "preact";

const PATHS = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.5 10.5l3.5 3.5",
  down: "M4 6l4 4 4-4",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  like: "M2.5 4.5h7M2.5 8h11M2.5 11.5h7",
  why: "M6 6a2 2 0 1 1 2.6 1.9c-.4.2-.6.5-.6 1v.6M8 12v.3M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13",
  not: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M3.8 3.8l8.4 8.4",
  warning: "M8 2.2l6.3 11.3H1.7zM8 6.5v3M8 11.4v.3",
  check: "M3 8.5l3.2 3.2L13 5",
  up: "M8 13V3M4 7l4-4 4 4",
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
