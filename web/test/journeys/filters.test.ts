// Filtering: facets, directories, conditions, orders and columns; and taking a search along.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

import { clipboard, hasText, journey, queryOf, until } from "./browser";

journey("facets take several values, exclude, and give them back", async ({ page, open }) => {
  await open("?index=home");
  const facet = page.locator(".facet", { has: page.locator("legend", { hasText: /^ext$/ }) });
  const value = (name: string) =>
    facet.locator("li", { has: page.locator(".facet-name", { hasText: new RegExp(`^${name}$`) }) });
  const before = await value("csv").locator(".facet-count").textContent();
  await value("md").locator("input").check();
  await until("one value", () => queryOf(page) === "ext:md");
  assert.equal(
    await value("csv").locator(".facet-count").textContent(),
    before,
    "other values stay in sight",
  );
  await value("csv").locator("input").check();
  await until("two values", () => queryOf(page) === "ext:(md csv)");
  await value("json").locator(".exclude").click();
  await until("one excluded", () => queryOf(page) === "ext:(md csv) -ext:json");
  assert.equal(await value("json").locator(".exclude").getAttribute("aria-pressed"), "true");
  await value("md").locator("input").uncheck();
  await until("one value left", () => queryOf(page) === "ext:csv -ext:json");
  await facet.locator("text=any").click();
  await until("none left", () => queryOf(page) === "");
});

journey("facets are added, hidden and unfolded", async ({ page, open }) => {
  await open("?index=papers");
  await page.selectOption("[aria-label='Add a filter']", "title");
  await hasText(page.locator(".facets"), "title");
  await until("the URL", () => new URL(page.url()).searchParams.get("facets") === "venue,authors,title");
  await page.click("[aria-label='Hide the filter venue']");
  await until("no venue", async () => (await page.locator("legend", { hasText: "venue" }).count()) === 0);
  const authors = page.locator(".facet", { has: page.locator("legend", { hasText: "authors" }) });
  const few = await authors.locator("li").count();
  await authors.locator("button[aria-expanded]").click();
  assert.ok((await authors.locator("li").count()) > few);
});

journey(
  "directories of a path filter, and labels of conditions are removed",
  async ({ page, open, count }) => {
    await open("?index=home&q=license");
    const before = await count();
    await page.locator(".path .plain", { hasText: "anna" }).first().click();
    await until("the path", () => queryOf(page) === "license path:/home/anna");
    await until("fewer", async () => (await count()) !== before);
    await page.locator(".condition button").first().click();
    await until("the query before", () => queryOf(page) === "license");
  },
);

journey("heads of the table and the menu sort, and columns are chosen", async ({ page, open }) => {
  await open("?index=fs&q=owner:anna");
  await page.locator("button.head", { hasText: "size" }).click();
  await until(
    "the largest first",
    async () => (await page.getAttribute("table.hits th:has-text('size')", "aria-sort")) === "descending",
  );
  await hasText(page.locator("table.hits tbody tr td:nth-child(2)"), /[GT]iB/);
  await page.locator("button.head", { hasText: "size" }).click();
  await until(
    "the smallest first",
    async () => (await page.getAttribute("table.hits th:has-text('size')", "aria-sort")) === "ascending",
  );
  await page.selectOption(".order select", "key");
  await until("the URL", () => new URL(page.url()).searchParams.get("sort") === "key");
  await page.locator(".toolbar button", { hasText: "Columns" }).click();
  await page
    .locator(".choices label", { hasText: /^ mode$/ })
    .locator("input")
    .check();
  await hasText(page.locator("table.hits thead"), "mode");
  await hasText(page.locator("table.hits tbody"), "drwxr-xr-x");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".panel").count(), 0);
});

journey("searches are saved, exported, imported and removed", async ({ page, open }) => {
  await open("?index=home&q=license&sort=size:desc");
  await page.click("text=Saved");
  await page.fill("[aria-label='Name of the search']", "large <b>licenses</b>");
  await page.click("text=Save this search");
  await hasText(page.locator(".saved li"), "large <b>licenses</b>");
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("text=Export to a file")]);
  const text = await readFile(await file.path(), "utf8");
  const search = { name: "large <b>licenses</b>", search: "?index=home&q=license&sort=size%3Adesc" };
  assert.deepEqual(JSON.parse(text), { searches: [search], queries: [] });
  await page.click("[aria-label^='Remove large']");
  assert.equal(await page.locator(".saved li").count(), 0);
  const buffer = Buffer.from(text.replace("license&", "warranty&"));
  await page.setInputFiles(".saved input[type=file]", {
    name: "s.json",
    mimeType: "application/json",
    buffer,
  });
  await page.locator(".saved li a").click();
  await until("the saved search", () => queryOf(page) === "warranty");
});

journey("all hits are downloaded in four formats", async ({ page, open }) => {
  await open("?index=home&q=license&sort=size:desc");
  await page.locator(".toolbar button", { hasText: "Download" }).click();
  const links = await page
    .locator(".choices a")
    .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
  assert.deepEqual(
    links.map((link) => /format=(\w+)/.exec(link)?.[1]),
    ["csv", "jsonl", "arrow", "parquet"],
  );
  assert.ok(
    links.every(
      (link) =>
        link.startsWith("api/v1/home/export?") &&
        link.includes("fields=_key%2Csize") &&
        link.includes("sort=size%3Adesc"),
    ),
  );
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.locator(".choices a").first().click(),
  ]);
  assert.equal(file.suggestedFilename(), "home.csv");
  assert.ok((await readFile(await file.path(), "utf8")).split("\n").length > 500);
});

journey("the search is copied as a command, as Python and as curl", async ({ page, open, url }) => {
  await open("?index=home&q=it's license&sort=size:desc");
  await page.locator(".toolbar button", { hasText: "Copy as" }).click();
  await page.click("[aria-label='Copy as Command']");
  await hasText(page.locator(".toast"), "copied");
  assert.match(
    await clipboard(page),
    /^scanns search \/srv\/indexes\/home\.scanns -k 20 --snippets --sort size:desc/,
  );
  assert.ok((await clipboard(page)).endsWith(" 'it'\\''s license'"));
  await page.click("[aria-label='Copy as Python']");
  await until("Python", async () =>
    (await clipboard(page)).includes('index.search("it\'s license", k=20, sort="size:desc"'),
  );
  await page.click("[aria-label='Copy as curl']");
  await until("curl", async () => (await clipboard(page)).includes(`${url}api/v1/home/search`));
  assert.ok((await clipboard(page)).includes('-H "Authorization: Bearer ${SCANNS_TOKEN:?'));
  await hasText(page.locator(".copy-as section").last(), "export SCANNS_TOKEN=");
});

journey("users who cannot read the index itself get curl alone", async ({ page, open }) => {
  await page.route("**/api/v1", async (route) => {
    const response = await route.fetch();
    const list = (await response.json()) as object;
    const socket = { recognized_by: "socket", socket: "/run/scanns/it's.sock", trimmed: true };
    await route.fulfill({ response, json: { ...list, ...socket } });
  });
  await open("?index=home&q=license");
  await page.click("text=Copy as");
  assert.deepEqual(await page.locator(".copy-as h2").allTextContents(), ["curl"]);
  await hasText(page.locator(".copy-as pre"), "--unix-socket '/run/scanns/it'\\''s.sock' localhost/api");
});

journey("beside an error nothing is downloaded or copied", async ({ page, open }) => {
  for (const search of ["?index=home&q=(license", "?index=home&q=zzpanic"]) {
    await open(search);
    for (const name of ["Download", "Copy as"])
      assert.ok(await page.locator(".toolbar button", { hasText: name }).isDisabled(), `${name} ${search}`);
  }
  await page.fill("#q", "license");
  await page.keyboard.press("Enter");
  await until("a download", () => page.locator(".toolbar button", { hasText: "Download" }).isEnabled());
});
