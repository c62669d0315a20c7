// How the page looks: for people with other needs, on narrow screens, enlarged, in the dark, and on paper.

import assert from "node:assert/strict";

import type { Visit } from "./browser";
import { objections, hasText, journey, until } from "./browser";

/** States of the page: a name, the query of the URL, and what is done after it is open. */
const STATES: [string, string, (visit: Visit) => Promise<void>][] = [
  ["results as a table", "?index=fs&q=owner:anna", async () => undefined],
  ["results with snippets", "?index=home&q=license", async () => undefined],
  ["conditions", "?index=fs&q=owner:anna -ext:gz size:[1KiB TO 1GiB}", async () => undefined],
  [
    "an error of the query",
    "?index=home&q=(a",
    ({ page }) => hasText(page.locator("#query-error"), "closed"),
  ],
  ["a suggestion", "?index=home&q=lisense", ({ page }) => hasText(page.locator(".meant"), "license")],
  ["a refusal", "?index=home&q=zzpanic", ({ page }) => hasText(page.locator(".notice"), "error")],
  ["a partial answer", "?index=scratch&q=license", async () => undefined],
  ["what was not read", "?index=scratch", ({ page }) => page.click("button.complete")],
  [
    "what is complete",
    "?index=fs&coverage=shown",
    ({ page }) => hasText(page.locator("dialog"), "is complete"),
  ],
  [
    "a refusal of coverage",
    "?index=part&coverage=shown",
    ({ page }) => hasText(page.locator("dialog"), "owner"),
  ],
  ["no sizes", "?index=papers&view=map", ({ page }) => hasText(page.locator("main"), "no paths and sizes")],
  ["an empty index", "?index=empty", async () => undefined],
  ["a lost index", "?index=nothing", ({ page }) => hasText(page.locator(".notice"), "no index")],
  ["hostile names", "?index=fs&q=path:/data/hostile", async () => undefined],
  ["the map", "?index=fs&view=map", async ({ page }) => void (await page.waitForSelector(".tile"))],
  [
    "owners and ages",
    "?index=fs&view=owners",
    async ({ page }) => void (await page.waitForSelector(".matrix")),
  ],
  [
    "growth",
    "?index=fs&view=growth&with=monday",
    async ({ page }) => void (await page.waitForSelector(".changes")),
  ],
  [
    "growth of a partial answer",
    "?index=scratch&view=growth&with=fs&by=count",
    async ({ page }) => void (await page.waitForSelector(".changes")),
  ],
  ["growth of nothing", "?index=fs&view=growth", ({ page }) => hasText(page.locator(".growth"), "Choose")],
  ["a preview", "?index=home&q=ext:csv", ({ page }) => page.locator("[data-hit]").first().click()],
  ["why", "?index=home&q=license", ({ page }) => page.locator("[aria-label='Why this hit']").first().click()],
  ["like", "?index=papers&like=paper-0001", async () => undefined],
  [
    "completion",
    "?index=home",
    async ({ page }) => {
      await page.locator("#q").pressSequentially("li");
      await hasText(page.locator("[role=option]"), "li");
      await page.keyboard.press("ArrowDown");
    },
  ],
  ["help", "?index=home", ({ page }) => page.click("text=Help")],
  ["columns", "?index=home", ({ page }) => page.click("text=Columns")],
  ["copy as", "?index=home&q=license", ({ page }) => page.click("text=Copy as")],
  ["saved", "?index=home&q=license", ({ page }) => page.click("text=Saved")],
];

for (const [colorScheme, rule] of [
  ["light", undefined],
  ["dark", "color-contrast"],
] as const) {
  journey(
    `axe-core objects to nothing in ${STATES.length} states: ${rule ?? "all rules"}, ${colorScheme}`,
    async (visit) => {
      const found: string[] = [];
      await visit.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      for (const [name, search, act] of STATES) {
        await visit.open(search);
        await act(visit);
        await visit.settled();
        found.push(...(await objections(visit.page, name, rule)));
      }
      assert.deepEqual(found, []);
    },
  );
}

/** Fails if the page has to be scrolled sideways. */
async function fits({ page }: Visit, where: string): Promise<void> {
  const [wide, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok((wide ?? 0) <= (view ?? 0), `${where}: ${wide} of ${view} pixels`);
}

journey("nothing is cut off at 360 pixels, and filters unfold", async (visit) => {
  const { page, open } = visit;
  await page.setViewportSize({ width: 360, height: 740 });
  for (const [name, search, act] of STATES) {
    if (
      [
        "a preview",
        "why",
        "hostile names",
        "the map",
        "growth",
        "growth of a partial answer",
        "conditions",
        "help",
        "copy as",
        "a partial answer",
        "what was not read",
      ].includes(name)
    ) {
      await open(search);
      await act(visit);
      await visit.settled();
      await fits(visit, name);
    }
  }
  await open("?index=home&q=license");
  assert.equal(await page.locator(".facet").first().isVisible(), false);
  await page.click("text=Filters");
  await page.locator(".facet").first().waitFor();
  assert.deepEqual(await objections(page, "filters on a narrow page"), []);
});

/** Fails if a panel, or a part of it, is outside of the window or cut off. */
async function panelFits({ page }: Visit, where: string): Promise<void> {
  const cut = await page.evaluate(() => {
    const panel = document.querySelector(".panel, dialog");
    if (panel === null) return ["there is no panel"];
    const outer = panel.getBoundingClientRect();
    const parts = [panel, ...panel.querySelectorAll("button, label, input, select, a, pre, h2, p, legend")];
    const wide = parts.filter((part) => {
      const { left, right } = part.getBoundingClientRect();
      return left < Math.max(0, outer.left) || right > Math.min(innerWidth, outer.right);
    });
    const high = outer.top < 0 || outer.bottom > innerHeight;
    const text = (part: Element): string =>
      `${part.tagName} ${part.textContent.slice(0, 20)} ${JSON.stringify(part.getBoundingClientRect())}`;
    return [...wide.map(text), ...(high ? [`too high: ${text(panel)}`] : [])];
  });
  assert.deepEqual(cut, [], where);
}

journey("every panel is inside of the window", async (visit) => {
  const { page } = visit;
  for (const width of [1300, 1280, 1024, 800, 360]) {
    await page.setViewportSize({ width, height: 860 });
    for (const search of ["?index=home&q=license", "?index=home&q=license&open=/home/anna/page.json"]) {
      await visit.open(search);
      for (const label of ["Columns", "Download", "Copy as", "Saved", "Help"]) {
        const button = page.locator(".toolbar button, .top-tools button", { hasText: label });
        await button.click();
        await panelFits(visit, `${label} at ${width} pixels, ${search}`);
        await page.keyboard.press("Escape");
        await until("closed", async () => (await page.locator(".panel, dialog").count()) === 0);
      }
    }
  }
});

journey("the page fits when it is enlarged to 200 %", async (visit) => {
  await visit.page.setViewportSize({ width: 640, height: 430 });
  await visit.open("?index=fs&q=owner:anna&open=/data/anna");
  await fits(visit, "enlarged");
  await visit.page.locator(".pane h2").waitFor();
});

journey("the colours are chosen, and stay", async ({ page, open }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await open("?index=home");
  const ground = (): Promise<string> =>
    page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await page.click("text=Help");
  await page.selectOption(".settings select", "dark");
  await until("dark", async () => (await ground()) !== light);
  await page.reload();
  await page.waitForSelector(".app:not(#served)");
  assert.notEqual(await ground(), light);
});

journey("on paper there are the query, the state of the index, and the hits", async ({ page, open }) => {
  await open("?index=home&q=license");
  await page.emulateMedia({ media: "print" });
  for (const shown of [".box input", ".status", ".count", "ol.hits"])
    assert.ok(await page.locator(shown).first().isVisible(), shown);
  for (const hidden of [".facets", ".toolbar", ".top-tools"])
    assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);
});
