// Searching: the query, its completion and errors, pages of results, and answers that are late or partial.

import assert from "node:assert/strict";

import { hasText, journey, queryOf, until } from "./browser";

journey(
  "the first visit shows results, the age of the index, and that it is complete",
  async ({ page, open, count }) => {
    await open("");
    assert.equal(await count(), "10,000 documents");
    await hasText(page.locator(".status"), "10,000 documents");
    await hasText(page.locator(".status"), "as of 3 hours ago");
    await hasText(page.locator(".status"), "complete");
    assert.equal(await page.locator("[data-hit]").count(), 20);
  },
);

journey("a query and Enter show its hits, and the URL says which", async ({ page, open }) => {
  await open("");
  await page.fill("#q", "owner:anna size:>1MiB");
  await page.keyboard.press("Enter");
  await until(
    "fewer documents",
    async () => !(await page.locator(".count strong").textContent())?.startsWith("10,000"),
  );
  assert.equal(queryOf(page), "owner:anna size:>1MiB");
  assert.match(await page.title(), /^owner:anna/);
  await hasText(page.locator(".condition").nth(0), "owner");
});

journey("the box completes fields and values", async ({ page, open }) => {
  await open("");
  await page.locator("#q").pressSequentially("ow");
  await hasText(page.locator("[role=option]"), "owner:");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.getAttribute("#q", "aria-activedescendant"), "offer-0");
  await page.keyboard.press("Enter");
  assert.equal(await page.inputValue("#q"), "owner:");
  await page.locator("#q").pressSequentially("an");
  await hasText(page.locator("[role=option]"), /anna.*value/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await page.inputValue("#q"), "owner:anna ");
  await page.keyboard.press("Enter");
  await until("the query in the URL", () => queryOf(page) === "owner:anna ");
});

journey(
  "an error stands under its character, also after letters of several bytes",
  async ({ page, open }) => {
    await open("");
    await page.fill("#q", "naïve (ext:gz");
    await page.keyboard.press("Enter");
    await hasText(page.locator("#query-error"), "this parenthesis is not closed");
    assert.equal(await page.locator(".place .wrong").textContent(), "(");
    assert.equal(await page.locator(".place .around").first().textContent(), "naïve ");
    assert.equal(await page.getAttribute("#q", "aria-invalid"), "true");
    const [box, mark] = await Promise.all([
      page.locator("#q").boundingBox(),
      page.locator(".place .wrong").boundingBox(),
    ]);
    const character = (mark?.width ?? 0) * 6;
    assert.ok(Math.abs((mark?.x ?? 0) - (box?.x ?? 0) - character) < 5, "the mark is under the parenthesis");
    await page.fill("#q", "naïve");
    await page.keyboard.press("Enter");
    await until("no error", async () => (await page.locator("#query-error").count()) === 0);
  },
);

journey("a misspelt word has a suggestion to click", async ({ page, open }) => {
  await open("?index=home&q=lisense");
  await hasText(page.locator(".count"), "No document matches");
  await page.click(".meant button");
  await until("the other query", () => queryOf(page) === "license");
  await hasText(page.locator(".count strong"), /^5\d\d documents$/);
});

journey(
  "a misspelt word among others has a suggestion, too, and so has a rare one",
  async ({ page, open }) => {
    await open("?index=home&q=lisense OR boundary");
    await hasText(
      page.locator(".meant"),
      "No document contains “lisense”. Did you mean license OR boundary?",
    );
    await page.click(".meant button");
    await until("the other query", () => queryOf(page) === "license OR boundary");
    await until("no suggestion", async () => (await page.locator(".meant").count()) === 0);
    await open("?index=home&q=licenze OR boundary");
    await hasText(page.locator(".meant"), "Only 2 documents contain “licenze”.");
  },
);

journey("back and forward show what was there before", async ({ page, open, count }) => {
  await open("?index=fs&q=owner:anna");
  const first = await count();
  await page.selectOption(".order select", "size:desc");
  await page.locator(".pager button", { hasText: "Next" }).click();
  await hasText(page.locator(".pager"), "page 2");
  await page.locator(".views button", { hasText: "Map" }).click();
  await page.waitForSelector(".tile");
  await page.goBack();
  await hasText(page.locator(".pager"), "page 2");
  await page.goBack();
  await hasText(page.locator(".pager"), "page 1");
  assert.equal(await page.inputValue(".order select"), "size:desc");
  await page.goBack();
  await until("the first order", async () => (await page.inputValue(".order select")) === "");
  assert.equal(await count(), first);
  await page.goForward();
  await until("the order again", async () => (await page.inputValue(".order select")) === "size:desc");
  await page.reload();
  await page.waitForSelector(".app:not(#served)");
  assert.equal(await page.inputValue(".order select"), "size:desc");
});

journey("an older answer is never shown after a newer one", async ({ page, open, settled }) => {
  await open("?index=home");
  await page.fill("#q", "zzslow");
  await page.keyboard.press("Enter");
  await page.fill("#q", "license");
  await page.keyboard.press("Enter");
  await hasText(page.locator(".count strong"), /^5\d\d documents$/);
  await new Promise((done) => setTimeout(done, 1800));
  await settled();
  await hasText(page.locator(".count strong"), /^5\d\d documents$/);
});

journey("earlier queries are offered in the empty box", async ({ page, open }) => {
  await open("?index=home");
  for (const q of ["license", "warranty"]) {
    await page.fill("#q", q);
    await page.keyboard.press("Enter");
    await until("the query", () => queryOf(page) === q);
  }
  await page.click("[aria-label='Clear the query']");
  await page.keyboard.press("ArrowDown");
  await hasText(page.locator("[role=option]").nth(0), "warranty");
  await hasText(page.locator("[role=option]").nth(1), "license");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await until("the earlier query", () => queryOf(page) === "license");
});

journey("searching while typing is a choice", async ({ page, open }) => {
  await open("?index=home");
  await page.click("text=Help");
  await page.check("text=search while typing");
  await page.keyboard.press("Escape");
  await page.locator("#q").pressSequentially("warranty");
  await until("the query in the URL", () => queryOf(page) === "warranty");
  await hasText(page.locator(".count strong"), /^[1-5]\d\d documents$/);
});

journey("no key is lost while a search begins", async ({ page, open }) => {
  await open("?index=home");
  await page.evaluate(() => localStorage.setItem("scanns.settings", JSON.stringify({ live: true })));
  for (const pause of [245, 248, 250, 251, 252, 255]) {
    await open("?index=home");
    await page.locator("#q").pressSequentially("warranty", { delay: pause });
    assert.equal(await page.locator("#q").inputValue(), "warranty");
    await until("the query in the URL", () => queryOf(page) === "warranty");
  }
});

journey("pages follow each other", async ({ page, open }) => {
  await open("?index=fs&sort=key");
  const first = await page.locator("[data-hit]").first().textContent();
  await page.locator(".pager button", { hasText: "Next" }).click();
  await hasText(page.locator(".count"), "21 to 40");
  assert.notEqual(await page.locator("[data-hit]").first().textContent(), first);
  await page.locator(".pager button", { hasText: "Previous" }).click();
  await hasText(page.locator(".pager"), "page 1");
  // The number of the page is there before its hits.
  const shown = () => page.locator("[data-hit]").first().textContent();
  for (let tries = 0; tries < 200 && (await shown()) !== first; tries++) {
    await page.waitForTimeout(50);
  }
  assert.equal(await shown(), first);
});

journey("a busy server is asked again by itself", async ({ page, open }) => {
  await open("?index=home");
  await page.fill("#q", "zzbusy OR license");
  await page.keyboard.press("Enter");
  await hasText(page.locator(".notice"), "The server is busy");
  await hasText(page.locator(".count strong"), /documents$/);
  assert.equal(await page.locator(".results .hit").count(), 20);
});

journey("what the server refuses is said with its reason", async ({ page, open }) => {
  await open("?index=home&q=zzpanic");
  await hasText(page.locator(".notice"), "The server made an error");
  await hasText(page.locator(".notice"), "Request r-1");
  await page.fill("#q", "zzview");
  await page.keyboard.press("Enter");
  await hasText(page.locator(".notice"), "a field that you may not see");
  await open("?index=locked");
  await hasText(page.locator(".notice"), "Open the link that scanns serve printed");
  await open("?index=nothing<b>");
  await hasText(page.locator(".notice"), "There is no index nothing<b>");
  await page.click("text=papers");
  await hasText(page.locator(".count"), "2,000 documents");
});

journey("partial answers and missing inputs are said", async ({ page, open }) => {
  await open("?index=scratch&q=license");
  await hasText(page.locator(".notice"), "only a part of the answer: the query took longer than 2s");
  await hasText(page.locator(".count strong"), "or more");
  await hasText(page.locator(".facets"), "Time was up");
  await hasText(page.locator(".status"), "incomplete: 340 paths not read");
  await hasText(page.locator(".status"), "as of 12 days ago");
});

journey("an empty index says what to do", async ({ page, open }) => {
  await open("?index=empty");
  await hasText(page.locator(".results"), "This index is empty. Add documents with scanns index.");
});

journey("a query without hits offers all documents", async ({ page, open }) => {
  await open("?index=fs&q=owner:nobody");
  await hasText(page.locator(".count"), "No document matches");
  await page.click("text=Show all documents");
  await hasText(page.locator(".count"), "10,000 documents");
});

journey(
  "without JavaScript the form and the first answer work",
  async ({ page, url }) => {
    await page.goto(`${url}?index=fs&q=owner:anna`);
    const all = await page.locator(".hit").count();
    assert.equal(all, 20);
    assert.equal(await page.inputValue("input[name=q]"), "owner:anna");
    await page.fill("input[name=q]", "owner:ben size:>1GiB");
    await page.click("button[type=submit]");
    assert.equal(queryOf(page), "owner:ben size:>1GiB");
    await hasText(page.locator("#results .count"), "documents");
    await page.goto(`${url}?index=fs&q=${encodeURIComponent('"><script>window.pwned=1</script>')}`);
    assert.equal(await page.inputValue("input[name=q]"), '"><script>window.pwned=1</script>');
  },
  { javaScriptEnabled: false },
);

journey("a long query is sent in the body of a request", async ({ page, open, requests }) => {
  await open("?index=fs");
  await page.fill("#q", `owner:(${"anna ".repeat(700)})`);
  await page.keyboard.press("Enter");
  await hasText(page.locator(".count strong"), /^\d{3} documents$/);
  assert.ok(requests.some((request) => request.startsWith("POST api/v1/fs/search")));
});
