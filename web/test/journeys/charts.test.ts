// Charts: histograms with a brush, the map of directories, and the table of owners and ages.

import assert from "node:assert/strict";

import { hasText, journey, queryOf, until } from "./browser";

journey("a stretch of a histogram is chosen with the mouse, and cleared", async ({ page, open, count }) => {
  await open("?index=fs&q=owner:anna");
  const before = await count();
  const chart = page.locator(".histogram", { hasText: "size" }).last();
  const box = await chart.locator(".bars").boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width * 0.5, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 20);
  await page.mouse.move(box.x + box.width * 0.7, box.y + 20);
  await page.mouse.up();
  await until("a range", () => /^owner:anna size:\[\d+[KM]iB TO \d+[KMG]iB\}$/.test(queryOf(page)));
  await until("fewer documents", async () => (await count()) !== before);
  assert.ok((await chart.locator(".bar.out").count()) > 0, "the other bars stay in sight");
  await hasText(chart.locator(".chosen"), /^\d+ [KM]iB to \d+ [KMG]iB: \d+/);
  await chart.locator("text=clear").click();
  await until("no range", () => queryOf(page) === "owner:anna");
});

journey("a stretch of a histogram is chosen with the keyboard", async ({ page, open }) => {
  await open("?index=papers");
  const from = page.locator("[role=slider]").first();
  await from.focus();
  assert.equal(await from.getAttribute("aria-label"), "year from");
  for (let step = 0; step < 3; step++) await page.keyboard.press("ArrowRight");
  const year = Number(await from.getAttribute("aria-valuetext"));
  await until(
    "a range",
    () => queryOf(page) === `year:>=${year}` || queryOf(page).startsWith(`year:[${year} TO `),
  );
  await page.locator("[role=slider]").nth(1).focus();
  await page.keyboard.press("PageDown");
  await page.keyboard.press("Enter");
  await until("two bounds", () => queryOf(page).startsWith(`year:[${year} TO 20`));
  await page.keyboard.press("Escape");
  await until("no range", () => queryOf(page) === "");
});

journey("every chart has its data as a table, and another field can be charted", async ({ page, open }) => {
  await open("?index=fs&q=owner:ben");
  const chart = page.locator(".histogram").first();
  await chart.locator("summary").click();
  await hasText(chart.locator("table"), /mtimedocuments.*\d{4}/);
  await chart.locator("select").selectOption("atime");
  await until("the URL", () => new URL(page.url()).searchParams.get("charts") === "atime,size");
  await hasText(page.locator(".histogram").first().locator("table"), "atimedocuments");
});

journey("the map goes into a directory, filters by it, and comes back up", async ({ page, open, count }) => {
  await open("?index=fs&view=map");
  await page.waitForSelector(".tile");
  await hasText(page.locator(".tile.opened").first(), /\w+ [\d.]+ [GT]iB/);
  await page.locator(".tile[aria-label^='anna ']").click({ position: { x: 5, y: 5 } });
  await until("the filter", () => queryOf(page) === "path:/data/anna");
  await hasText(page.locator(".map figcaption"), "/data/anna");
  await until("fewer documents", async () => (await count()) !== "10,000 documents");
  await page.locator(".map .switch button", { hasText: "count" }).click();
  await until("the measure", () => page.url().includes("by=count"));
  await page.click("[aria-label='Up to the directory above']");
  await until("the directory above", () => queryOf(page) === "path:/data");
  await page.locator(".map summary").click();
  await hasText(page.locator(".map table"), "hostile");
  await page.goBack();
  await hasText(page.locator(".map figcaption"), "/data/anna");
});

journey("the map shows what is in two directories that were indexed", async ({ page, open }) => {
  await open("?index=roots&view=map");
  await hasText(page.locator(".map .title"), "/usr");
  const names = async (): Promise<string[]> => page.locator(".tile .tile-name").allTextContents();
  await until("what is in share/doc", async () => (await names()).some((name) => name.startsWith("git")));
  assert.ok(
    (await names()).some((name) => name.startsWith("share/doc")),
    String(await names()),
  );
  await page.locator(".tile", { hasText: "share/doc" }).first().focus();
  await page.keyboard.press("Enter");
  await until("the query", () => queryOf(page) === "path:/usr/share/doc");
});

journey("a cell of the table of owners and ages filters", async ({ page, open }) => {
  await open("?index=fs");
  await page.locator(".views button", { hasText: "Owners and ages" }).click();
  await page.waitForSelector(".matrix");
  const row = page.locator(".matrix tbody tr", { hasText: "emil" });
  await hasText(row, /[GT]iB/);
  await row.locator(".cell").nth(4).click();
  await until("the filter", () =>
    /^owner:emil mtime:\[\d{4}-\d\d-\d\d TO \d{4}-\d\d-\d\d\}$/.test(queryOf(page)),
  );
  await hasText(page.locator("table.hits"), "emil");
});

journey("the views are offered where there are sizes, and say elsewhere what is missing", async (visit) => {
  const { page, open } = visit;
  // An index of the text of files has no directories as documents, but their files have sizes.
  await open("?index=home");
  assert.equal(await page.locator(".views .lacking").count(), 0);
  await page.click(".views >> text=Map");
  await page.waitForSelector(".tile");
  await hasText(page.locator(".map"), "regular files alone");
  await page.click(".views >> text=Owners");
  await page.waitForSelector(".matrix");
  await open("?index=papers");
  for (const [label, why] of [
    ["Map", "no paths and sizes"],
    ["Owners", "no owners, sizes and dates"],
    ["Growth", "no paths and sizes"],
  ]) {
    await page.click(`.views .lacking >> text=${label}`);
    await hasText(page.locator("main"), why ?? "");
  }
});
