/** A real browser for the tests of the console, and everything it complains of. */
import { existsSync } from "node:fs";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type Page,
  type Request,
} from "playwright-core";
import { eventually, patienceMs } from "../support/patience.ts";

const places = [
  process.env["TOLLGATE_TEST_CHROMIUM"] ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** Starts Chromium. @throws Error where none is installed, with what to do */
export async function startBrowser(): Promise<Browser> {
  const executablePath = places.find((path) => path !== "" && existsSync(path));
  if (executablePath === undefined) {
    throw new Error(
      "These tests need Chromium: `apt-get install chromium`, or name one in TOLLGATE_TEST_CHROMIUM.",
    );
  }
  // Its own sandbox needs rights that containers and root do not have; it opens nothing but our pages.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What went wrong so far: console errors, breaches of the policy, calls of other hosts, uncaught errors. */
  readonly complaints: string[];
  /** Waits until the page has asked for nothing for a moment and shows no place that waits; its stream of events does not count. */
  readonly settled: () => Promise<void>;
}

interface VisitOptions {
  readonly url: string;
  readonly scheme?: "light" | "dark";
  readonly width?: number;
  /** As `name=value; name=value`, of somebody who is signed in already. */
  readonly cookie?: string;
}

const cookiesOf = (cookie: string, url: string) =>
  cookie.split("; ").map((one) => {
    const [name = "", ...value] = one.split("=");
    return { name, value: value.join("="), url };
  });

/** Answers that a page asks for knowingly, such as who reads before anybody signed in, are no complaint. */
const expected = /the server responded with a status of (?:400|401|402|403|404|409|412|429)/;

/** A new window at the gateway, that keeps what the browser complains of. */
export async function visit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const { url, scheme = "light", width = 1280, cookie } = options;
  const context = await browser.newContext({
    baseURL: url,
    colorScheme: scheme,
    // What fades in has other contrasts for a moment.
    reducedMotion: "reduce",
    viewport: { width, height: 800 },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  if (cookie !== undefined) await context.addCookies(cookiesOf(cookie, url));
  context.setDefaultTimeout(patienceMs);
  const complaints: string[] = [];
  await context.exposeFunction("complain", (text: string) => void complaints.push(text));
  await context.addInitScript(
    "document.addEventListener('securitypolicyviolation', (e) => complain(`policy: ${e.violatedDirective} ${e.blockedURI}`))",
  );
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" && !expected.test(message.text()))
      complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== url && protocol !== "blob:") complaints.push(`other host: ${request.url()}`);
  });
  return { context, page, complaints, settled: settling(page) };
}

const quietMs = 100;

function settling(page: Page): () => Promise<void> {
  const open = new Set<Request>();
  let movedMs = performance.now();
  page.on("request", (request) => {
    if (!request.url().includes("/admin/v1/events")) open.add(request);
    movedMs = performance.now();
  });
  for (const end of ["requestfinished", "requestfailed"] as const) {
    page.on(end as "requestfinished", (request) => {
      open.delete(request);
      movedMs = performance.now();
    });
  }
  return async () => {
    await eventually(
      async () =>
        open.size === 0 &&
        performance.now() - movedMs > quietMs &&
        (await page.locator(".mantine-Skeleton-root").count()) === 0,
      `${page.url()} settles`,
    );
  };
}
