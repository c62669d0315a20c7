// Growth: directories in an earlier index and in this one.

import assert from "node:assert/strict";

import { hasText, journey, queryOf, until } from "./browser";

journey("growth compares with a chosen index, and goes down and up", async ({ page, open, requests }) => {
  await open("?index=fs");
  await page.locator(".views button", { hasText: "Growth" }).click();
  await hasText(page.locator(".growth"), "Choose the index of the state before.");
  await page.selectOption(".sides select", "monday");
  const rows = page.locator(".changes tbody tr");
  await hasText(rows.first(), /^goran[\d.]+ GiB[\d.]+ GiB−[\d.]+ GiB[\d,]+[\d,]+\+\d+$/);
  await hasText(rows.filter({ hasText: "chen" }), /^chen new–[\d.]+ GiB\+[\d.]+ GiB–/);
  await hasText(page.locator(".changes tfoot"), "all");
  assert.equal(await rows.count(), 8);
  await page.click("text=show them");
  await until("all directories", async () => (await rows.count()) === 11);
  await page.locator(".switch button", { hasText: "count" }).click();
  await hasText(rows.first(), /^chen new/);
  await page.locator(".changes .link", { hasText: "anna" }).focus();
  await page.keyboard.press("Enter");
  await hasText(page.locator(".place h2"), "/data/anna");
  await until("the focus", () => page.evaluate(() => document.activeElement?.tagName === "H2"));
  await hasText(page.locator(".changes"), "genome new");
  const url = new URL(page.url()).searchParams;
  assert.deepEqual([url.get("with"), url.get("below"), url.get("by")], ["monday", "/data/anna", "count"]);
  assert.equal(queryOf(page), "", "the query stays");
  await page.reload();
  await hasText(page.locator(".changes"), "genome new");
  await page.click("[aria-label='Up to the directory above']");
  await hasText(page.locator(".place h2"), /^\/data$/);
  await page.goBack();
  await hasText(page.locator(".place h2"), "/data/anna");
  assert.ok(requests.some((request) => request.includes("growth?with=monday&by=count")));
});

journey("growth goes into directories with hostile names", async ({ page, open }) => {
  await open("?index=fs&view=growth&with=monday&below=/data/hostile");
  await hasText(page.locator(".changes"), "javascript:window.pwned=1.d new");
  await page.locator(".changes .link", { hasText: "caf\\xe9.d" }).click();
  await hasText(page.locator(".place h2"), "/data/hostile/caf\\xe9.d");
  await hasText(page.locator(".changes tbody tr").first(), /^files in it[\d.]+ \w+[\d.]+ \w+−/);
  assert.match(page.url(), /below_bytes=/);
  assert.ok(await page.locator(".changes .link").isDisabled(), "no query can name these files");
  await page.reload();
  await hasText(page.locator(".changes"), "files in it");
  await page.click("[aria-label='Up to the directory above']");
  await hasText(page.locator(".place h2"), /^\/data\/hostile$/);
  await page.locator(".changes .link", { hasText: "files in it" }).click();
  await until("the files", () => queryOf(page) === "path:/data/hostile");
  await open("?index=fs&view=growth&with=monday");
  await page.click("text=show them");
  const gone = page.locator(".changes tr", { hasText: "\\u202egone gone" });
  await hasText(gone, "<img src=x onerror=window.pwned=1>");
  await gone.locator(".link").click();
  await hasText(page.locator(".changes"), "sub1 gone");
  assert.equal(await page.locator("img, iframe, object, embed").count(), 0);
});

journey("growth says what makes it wrong, and what is refused", async ({ page, open }) => {
  await open("?index=scratch&view=growth&with=fs");
  await hasText(page.locator(".growth"), "Time was up: these sums are too low");
  await hasText(page.locator(".growth"), "scratch is incomplete");
  await hasText(page.locator(".growth"), "The index of the state before is the newer one.");
  await page.click("text=Swap");
  await until(
    "the other way round",
    () => page.url().includes("index=fs") && page.url().includes("with=scratch"),
  );
  await hasText(page.locator(".changes tbody tr").first(), /\+[\d.]+ GiB/);
  await open("?index=fs&view=growth&with=papers");
  await hasText(page.locator(".growth .notice"), "no paths and sizes of files");
  await page.selectOption(".sides select", "monday");
  await hasText(page.locator(".changes"), "goran");
  await open("?index=fs&view=growth&with=<b>lost</b>&below=/nothing");
  await hasText(page.locator(".growth .notice"), "There is no such index");
  await hasText(page.locator(".sides select"), "<b>lost</b>");
  await open("?index=papers&view=growth");
  await hasText(page.locator("#results"), "no paths and sizes");
  assert.equal(await page.locator(".views .lacking", { hasText: "Growth" }).count(), 1);
});
