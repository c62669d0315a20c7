// What could not be read: the dialog that the line about the index opens.

import assert from "node:assert/strict";

import { visible } from "../../src/text/show";
import { NAMED } from "../fake/coverage";
import { HOSTILE_NAMES } from "../fake/hostile";
import { clipboard, hasText, journey, until } from "./browser";

journey("the line about the index opens what could not be read, by reason", async ({ page, open }) => {
  await open("?index=scratch");
  await page.click("button.complete");
  const dialog = page.locator("dialog");
  await hasText(dialog, "such as /data/<b>broken</b>\\u202e.h5");
  await hasText(dialog.locator(".rows tbody tr").first(), /^Permission denied \(os error 13\)\d{3}$/);
  await hasText(dialog.locator(".rows"), "<img src=x onerror=window.pwned=1>\\u202e (os error 0)");
  await hasText(dialog.locator(".rows"), "reason not kept20");
  await hasText(dialog, "Not read: 340 inputs");
  await hasText(dialog, "The index keeps the names of 320 inputs of 340.");
  await hasText(dialog, "left out on purpose: 2 other file systems, such as /data/<b>proc</b>\\u202e");
  await hasText(dialog, "not complete: the dump is cut off");
  const rows = dialog.locator(".inputs").first().locator("li");
  assert.equal(await rows.count(), 100);
  await page.click("text=Show all 320");
  await until("all", async () => (await rows.count()) === NAMED);
  assert.ok(page.url().includes("coverage=shown"));
  await page.keyboard.press("Escape");
  await until("no dialog", async () => (await dialog.count()) === 0);
  assert.equal(await page.evaluate(() => document.activeElement?.className), "complete warned");
  await page.goBack();
  await hasText(dialog, "Not read: 340 inputs");
});

journey("hostile names of unread inputs are shown escaped, and copied exactly", async ({ page, open }) => {
  await open("?index=scratch&coverage=shown");
  const rows = page.locator("dialog .inputs").first().locator("li");
  await hasText(rows.first(), "/data/lost/<img src=x onerror=window.pwned=1>.txt");
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (const [at, name] of HOSTILE_NAMES.entries()) {
    await rows.nth(at).locator("[aria-label='Copy the path']").click();
    let text: string | undefined;
    try {
      text = `/data/lost/${strict.decode(name)}`;
    } catch {
      await until("a word for a shell", async () => /^\$'\/data\/lost\/.*\\x/.test(await clipboard(page)));
      await hasText(page.locator("dialog .toast"), "copied, quoted for a shell");
    }
    if (text === undefined) continue;
    await until(visible(text), async () => (await clipboard(page)) === text);
    const shown = (await rows.nth(at).locator("bdi").first().textContent()) ?? "";
    assert.equal(shown, visible(text));
  }
  await hasText(rows.nth(HOSTILE_NAMES.length - 3), "/data/lost/caf\\xe9.txt");
  assert.equal(await page.locator("img, iframe, object, embed").count(), 0);
});

journey("the dialog says that an index is complete, or who is told", async ({ page, open }) => {
  await open("?index=fs");
  await page.locator("button.complete", { hasText: "complete" }).click();
  await hasText(page.locator("dialog"), "This index is complete: everything that was asked for was read.");
  await hasText(page.locator("dialog"), "/data");
  await open("?index=papers&coverage=shown");
  await hasText(page.locator("dialog"), "The index has no record of a scan or of a dump.");
  await open("?index=part&coverage=shown");
  await hasText(page.locator("dialog"), "told only to those who see everything in this index");
});
