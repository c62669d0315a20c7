// Documents: previews, why a hit was found, others like it; and everything by keyboard.

import assert from "node:assert/strict";

import { clipboard, hasText, journey, queryOf, until } from "./browser";

journey("a preview shows a text, a table or JSON, and the values", async ({ page, open }) => {
  await open("?index=home&q=license ext:md");
  await page.locator("[data-hit]").first().click();
  await hasText(page.locator(".pane pre.text"), "license");
  await hasText(page.locator(".pane .fields"), "mtime");
  await open("?index=home&q=ext:csv name:*-*");
  await page.locator("[data-hit]").first().click();
  await hasText(page.locator(".pane thead"), "runtopicnotevalue");
  assert.equal(await page.locator(".pane .content tbody tr").count(), 50);
  await page.locator(".pane .switch button", { hasText: "text" }).click();
  await hasText(page.locator(".pane pre.text"), "run,topic,note,value");
  await open("?index=home&q=ext:json name:*-*");
  await page.locator("[data-hit]").first().click();
  await hasText(page.locator(".pane pre.text"), '  "runs": [');
});

journey("a link opens a preview, and Esc closes it", async ({ page, open }) => {
  await open("?index=fs&open=/data/anna");
  await hasText(page.locator(".pane"), "The index does not have the text of this document");
  await page.keyboard.press("Escape");
  await until("no pane", async () => (await page.locator(".pane").count()) === 0);
  await page.goBack();
  await hasText(page.locator(".pane h2"), "anna");
  await open("?index=fs&open=/data/nobody");
  await hasText(page.locator(".pane .notice"), "There is no such document");
});

journey("why a document was found is told part by part", async ({ page, open }) => {
  await open("?index=home&q=license warranty");
  await page.locator("[aria-label='Why this hit']").first().click();
  await hasText(page.locator(".why"), "license: idf · tf");
  await hasText(page.locator(".pane"), "Number 1 of the results, by its score");
  await page.locator(".pane .views button", { hasText: "Preview" }).click();
  await hasText(page.locator(".pane pre.text"), "license");
  await page.goBack();
  await hasText(page.locator(".why"), "freq, how often it occurs in the document");
});

journey("more like this shows others, and ends", async ({ page, open, count }) => {
  await open("?index=papers&q=ocean");
  await page.locator("[aria-label='More like this']").first().click();
  await hasText(page.locator(".condition"), "like");
  await hasText(page.locator(".count"), "like this one");
  assert.equal(await page.locator(".facets").count(), 0);
  await page.click("[aria-label='Stop showing documents like this one']");
  await hasText(page.locator(".facets"), "venue");
  assert.match(await count(), /documents$/);
});

journey("the path of a hit is copied", async ({ page, open }) => {
  await open("?index=home&q=license&sort=key");
  await page.locator("[aria-label='Copy the path']").nth(1).click();
  await hasText(page.locator(".toast"), "copied");
  assert.match(await clipboard(page), /^\/home\/anna\//);
});

journey("everything is reached by keyboard", async ({ page, open }) => {
  await open("?index=home");
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? "");
  await press("/");
  await page.keyboard.type("license");
  await press("Enter");
  await until("the query", () => queryOf(page) === "license");
  await hasText(page.locator(".count strong"), /^5\d\d /);
  await press("Escape", "j");
  const first = await focused();
  await press("j");
  const second = await focused();
  assert.notEqual(first, second);
  await press("k");
  assert.equal(await focused(), first);
  await press("Enter");
  await hasText(page.locator(".pane h2"), first);
  await press("Escape");
  await until("no pane", async () => (await page.locator(".pane").count()) === 0);
  assert.equal(await focused(), first);
  await press("?");
  await page.waitForSelector("dialog[open]");
  await press("Escape");
  await until("no dialog", async () => (await page.locator("dialog").count()) === 0);
  await press("/");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "q");
});

journey("Tab reaches each control in an order that follows the page", async ({ page, open }) => {
  await open("?index=papers&q=ocean");
  const seen: string[] = [];
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press("Tab");
    seen.push(
      await page.evaluate(
        () =>
          document.activeElement?.closest(
            ".skip, .index, .search, .top-tools, .facets, .toolbar, .charts, .results",
          )?.classList[0] ?? "",
      ),
    );
  }
  const order = seen.filter((name, at) => name !== "" && name !== seen[at - 1]);
  assert.deepEqual(order, ["skip", "index", "search", "top-tools", "facets", "toolbar", "charts", "results"]);
});
