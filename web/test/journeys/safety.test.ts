// Hostile names and texts are shown as text, copied exactly, and run nothing.

import assert from "node:assert/strict";

import { visible } from "../../src/text/show";
import { HOSTILE_NAMES, HOSTILE_OWNER } from "../fake/hostile";
import { clipboard, hasText, journey, queryOf, until } from "./browser";

const PREFIX = "/data/hostile/";

journey("hostile names are shown escaped, in results, facets, map and table", async ({ page, open }) => {
  await open("?index=fs&q=path:/data/hostile&fields=size,owner,name,ext&facets=owner,name,ext");
  const shown = await page.locator("#results").innerText();
  assert.ok(shown.includes("<img src=x onerror=window.pwned=1>.txt"));
  assert.ok(shown.includes("invoice\\u202efdp.exe"));
  assert.ok(shown.includes("line\\nfeed\\ttab\\rreturn.txt"));
  await hasText(page.locator(".facets"), "onerror");
  await page.locator(".pager button", { hasText: "Next" }).click();
  await hasText(page.locator(".results"), "caf\\xe9.txt");
  await hasText(page.locator(".results"), "x".repeat(4096));
  await open("?index=fs&view=map&map=/data/hostile&by=count");
  await page.waitForSelector(".tile");
  await page.locator(".map summary").click();
  await hasText(page.locator(".map table"), "javascript:window.pwned=1.d");
  await open("?index=fs&view=owners");
  await hasText(page.locator(".matrix"), HOSTILE_OWNER);
  assert.equal(await page.locator("img, iframe, object, embed").count(), 0);
});

journey(
  "hostile names are copied exactly, and as a word for a shell if they are not UTF-8",
  async ({ page, open }) => {
    const copied: string[] = [];
    for (const after of ["", "&after=MjA", "&after=NDA"]) {
      await open(`?index=fs&q=path:/data/hostile&sort=key${after}`);
      const buttons = page.locator("[aria-label='Copy the path']");
      for (let at = 0; at < (await buttons.count()); at++) {
        await buttons.nth(at).click();
        await until("another text in the clipboard", async () => (await clipboard(page)) !== copied.at(-1));
        copied.push(await clipboard(page));
      }
    }
    const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    for (const name of HOSTILE_NAMES) {
      let text: string | undefined;
      try {
        text = PREFIX + strict.decode(name);
      } catch {
        assert.ok(copied.some((each) => each.startsWith("$'/data/hostile/") && each.includes("\\x")));
      }
      if (text !== undefined) assert.ok(copied.includes(text), `${visible(text)} was not copied exactly`);
    }
    assert.ok(copied.includes("$'/data/hostile/caf\\xe9.txt'"));
  },
);

journey("a document whose name is not UTF-8 has a preview, and a link to it", async ({ page, open }) => {
  await open("?index=fs&q=path:/data/hostile&after=MjA");
  await page.locator("[data-hit]", { hasText: "caf\\xe9.txt" }).click();
  await hasText(page.locator(".pane .fields"), "owner");
  assert.match(page.url(), /open_bytes=/);
  await page.reload();
  await hasText(page.locator(".pane .fields"), "owner");
});

journey("hostile texts are shown as text, in snippets and previews", async ({ page, open }) => {
  await open("?index=home&q=script");
  await hasText(page.locator(".snippet"), "<script>window.pwned = 1</script>");
  await page.locator("[data-hit]", { hasText: "onerror" }).first().click();
  await hasText(page.locator(".pane pre.text"), '<img src=x onerror="window.pwned = 1"> \\u202e evil \\x07');
  await open("?index=home&q=&open=/home/anna/<svg onload=window.pwned=1>.csv");
  await hasText(page.locator(".pane .content tbody"), "=cmd|' /C calc'!A0");
  await open("?index=home&open=/home/anna/page.json");
  await hasText(page.locator(".pane pre.text"), '"__proto__"');
});

journey(
  "a hostile value of a facet becomes one condition, and finds its documents",
  async ({ page, open, count }) => {
    await open("?index=fs&q=path:/data/hostile");
    await page.locator(".facet input").nth(0).focus();
    const owner = page.locator(".facet li", { hasText: "onerror" }).first();
    await owner.locator("input").check();
    await until(
      "the condition",
      () => queryOf(page) === `path:/data/hostile owner:"\\"><img src=x onerror=window.pwned=1>"`,
    );
    await until("the count", async () => /^\d\d documents$/.test(await count()));
  },
);

journey("hostile queries in a link are text, too", async ({ page, open }) => {
  const q = '<img src=x onerror=window.pwned=1> "\u202e';
  const search = new URLSearchParams({ index: "home", q, sort: "<b>:desc", fields: "__proto__,constructor" });
  await open(`?${search.toString()}`);
  await hasText(page.locator("#query-error"), "this quote is not closed");
  assert.equal(await page.inputValue("#q"), q);
  const like = "<script>window.pwned=1</script>";
  await open(
    `?${new URLSearchParams({ index: "home", q: "license", like, view: "map", map: "/x<b>" }).toString()}`,
  );
  await hasText(page.locator(".condition"), like);
  await hasText(page.locator(".notice"), "There is no such document");
});
