// The short message that goes away by itself, on the screen and to screen readers.

import type { JSX } from "preact";
import { useContext } from "preact/hooks";

import { SaidContext } from "../state/page";

/** Shows what was said. A dialog has one of its own, because nothing outside of it is seen or read out. */
export function Toast(): JSX.Element {
  const said = useContext(SaidContext);
  return (
    <p class={said === "" ? "toast" : "toast shown"} role="status">
      {said}
    </p>
  );
}
