// Runs journeys through the page in Chromium, against the fake server. After each, nothing may be wrong:
// no error in a script, no violation of the policy, no script of a hostile name.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, test } from "node:test";

import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { chromium } from "playwright-core";

import type { FakeServer } from "../fake/server";
import { startFakeServer } from "../fake/server";

const root = process.env["SCANNS_WEB"] ?? process.cwd();
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);

/** Milliseconds that a loaded machine may need for a step. */
const PATIENCE = 40_000;

/** Few processes, as on a machine with few cores. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-background-networking",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-site-isolation-trials",
  "--renderer-process-limit=1",
];

interface Running {
  browser: Browser;
  server: FakeServer;
  /** The context of all journeys that need none of their own. */
  context: BrowserContext;
}

let running: Running | undefined;

after(async () => {
  await running?.browser.close();
  await running?.server.close();
});

async function newContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  return context;
}

async function start(): Promise<Running> {
  const browser = await chromium.launch({ executablePath: CHROMIUM ?? "", args: ARGUMENTS });
  const server = await startFakeServer(join(root, "dist"));
  return { browser, server, context: await newContext(browser, {}) };
}

/** A page of the browser, and what it asked the server. */
export interface Visit {
  page: Page;
  requests: string[];
  url: string;
  /** Opens the page with a query of the URL, and waits for its results. */
  open: (search: string) => Promise<void>;
  /** Waits until the page has its answers. */
  settled: () => Promise<void>;
  count: () => Promise<string>;
}

/** A test in the browser; it is skipped where there is none. */
export function journey(
  name: string,
  steps: (visit: Visit) => Promise<void>,
  options: BrowserContextOptions = {},
): void {
  test(name, async (context) => {
    if (CHROMIUM === undefined) {
      console.log("SKIPPED: install chromium to test the page in it");
      return context.skip("no Chromium");
    }
    running ??= await start();
    const { browser, server } = running;
    const own = Object.keys(options).length > 0;
    const inside = own ? await newContext(browser, options) : running.context;
    const page = await inside.newPage();
    page.setDefaultTimeout(PATIENCE);
    const errors = errorsOf(page);
    try {
      await steps(visitOf(page, server));
      assert.deepEqual(errors, []);
      assert.deepEqual(server.violations, []);
      if (options.javaScriptEnabled === false) return;
      assert.equal(await page.evaluate("localStorage.clear(), typeof window.pwned"), "undefined");
    } finally {
      await (own ? inside : page).close();
    }
  });
}

/** What goes wrong in a page, from now on. Answers with an error are no fault of the page. */
function errorsOf(page: Page): string[] {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !text.startsWith("Failed to load resource")) errors.push(text);
  });
  page.on("dialog", (dialog) => void dialog.dismiss().then(() => errors.push("a dialog was shown")));
  return errors;
}

function visitOf(page: Page, fake: FakeServer): Visit {
  const settled = async (): Promise<void> => {
    const still =
      ".app:not(#served) .count strong, .app:not(#served) .notice, .app:not(#served) .query-error";
    await page.waitForSelector(still);
    await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
  };
  return {
    page,
    requests: fake.requests,
    url: fake.url,
    settled,
    open: async (search) => {
      await page.goto(fake.url + search);
      await settled();
    },
    count: async () => (await page.locator(".count strong").textContent()) ?? "",
  };
}

/** Fails if a locator does not get this text soon. */
export async function hasText(locator: Locator, text: string | RegExp): Promise<void> {
  const fits = (found: string): boolean =>
    typeof text === "string" ? found.includes(text) : text.test(found);
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = (await locator.count()) > 0 ? ((await locator.first().textContent()) ?? "") : "";
    if (fits(found)) return;
    if (Date.now() > end) assert.fail(`${String(text)} is not in: ${found.slice(0, 300)}`);
    await new Promise((done) => setTimeout(done, 30));
  }
}

/** Waits until a condition holds. */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!(await holds())) {
    if (Date.now() > end) assert.fail(`this did not come: ${what}`);
    await new Promise((done) => setTimeout(done, 30));
  }
}

/** The query in the page's URL. */
export function queryOf(page: Page): string {
  return new URL(page.url()).searchParams.get("q") ?? "";
}

let axe: string | undefined;

/** What axe-core objects to in the page: by all of its rules, or by one. */
export async function objections(page: Page, where: string, rule?: string): Promise<string[]> {
  axe ??= readFileSync(createRequire(join(root, "package.json")).resolve("axe-core/axe.min.js"), "utf8");
  await page.evaluate(axe);
  const options = JSON.stringify({
    resultTypes: ["violations"],
    ...(rule === undefined ? {} : { runOnly: [rule] }),
  });
  const program = `axe.run(document, ${options}).then((result) => result.violations.map((each) => {
    const why = (node) => [...node.any, ...node.all, ...node.none].map((check) => check.message).join(", ");
    const places = each.nodes.map((node) => node.html.slice(0, 200) + " " + why(node));
    return each.id + ": " + places.slice(0, 3).join(" | ");
  }))`;
  const found = (await page.evaluate(program)) as string[];
  return found.map((each) => `${where}: ${each}`);
}

/** The text in the clipboard. */
export function clipboard(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText());
}
