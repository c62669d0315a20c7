// Starts the page. What the server put into the document stays until the page has an answer of its own.

import { render } from "preact";

import { readSettings } from "./state/stored";
import { App } from "./view/app";

document.documentElement.dataset["theme"] = readSettings().theme;

const served = document.getElementById("served");
const root = document.createElement("div");
root.className = "app";

/** Puts the page in the place of the server's answer; what was typed meanwhile stays. */
function ready(): void {
  if (root.isConnected) return;
  const typed = served?.querySelector<HTMLInputElement>("input[name=q]");
  const focused = typed !== null && typed !== undefined && document.activeElement === typed;
  served?.replaceWith(root);
  if (!focused) return;
  const box = root.querySelector<HTMLInputElement>("#q");
  if (box === null) return;
  box.focus();
  if (typed.value !== typed.defaultValue) {
    box.value = typed.value;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

render(<App ready={ready} />, root);
