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
import { watchShifts } from "./shift.ts";

/** The one without windows first: it takes three quarters of the time. */
const places = [
  process.env["TOLLGATE_TEST_CHROMIUM"] ?? "",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** What Playwright turns off. Chromium heeds the last list alone, so ours begins with its. */
const leftOutByPlaywright = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "TcpPortRandomizationWin",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
];

/**
 * Pages of the browser's own that no test sees: each window drew two lists of suggestions under its address bar, in a process of
 * their own, for longer than our page takes; and a process was kept ready for the next site.
 */
const neverSeen = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "SpareRendererForSitePerProcess",
];

/** Starts Chromium. @throws Error where none is installed, with what to do */
async function startBrowser(): Promise<Browser> {
  const executablePath = places.find((path) => path !== "" && existsSync(path));
  if (executablePath === undefined) {
    throw new Error(
      "These tests need Chromium: `apt-get install chromium-headless-shell`, or name one in TOLLGATE_TEST_CHROMIUM.",
    );
  }
  // Its own sandbox needs rights that containers and root do not have; it opens nothing but our pages. Without a graphics
  // card a process that stands in for one takes a tenth of the time. Windows of one person share a process, with the
  // scripts that it has compiled.
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--process-per-site"];
  // A page lives for less time than its scripts take to be compiled a second time, for speed, and what draws it needs no process
  // of its own: to load a page takes four fifths of the time.
  args.push("--js-flags=--no-opt,--no-maglev,--single-threaded");
  args.push("--in-process-gpu", "--num-raster-threads=1");
  args.push(`--disable-features=${[...leftOutByPlaywright, ...neverSeen].join(",")}`);
  return chromium.launch({ executablePath, args });
}

/** The one browser of this test process: it ends with the process, by the pipe between them. */
let shared: Promise<Browser> | undefined;

export interface Visit {
  readonly page: Page;
  /** What went wrong so far: console errors, breaches of the policy, calls of other hosts, uncaught errors. */
  readonly complaints: string[];
  /** Waits until the page has asked for nothing for a moment and shows no place that waits; its stream of events does not count. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
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

/**
 * What the windows of one person share, by address and cookie: what they have loaded once they have, as at home. Whoever is
 * not signed in yet has one of their own.
 */
const profiles = new Map<string, Promise<BrowserContext>>();

async function newProfile({ url, cookie }: VisitOptions): Promise<BrowserContext> {
  const context = await (
    await (shared ??= startBrowser())
  ).newContext({
    baseURL: url,
    // What fades in has other contrasts for a moment.
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  if (cookie !== undefined) await context.addCookies(cookiesOf(cookie, url));
  context.setDefaultTimeout(patienceMs);
  return context;
}

function profileOf(options: VisitOptions): Promise<BrowserContext> {
  if (options.cookie === undefined) return newProfile(options);
  const name = `${options.url} ${options.cookie}`;
  const known = profiles.get(name);
  if (known !== undefined) return known;
  const made = newProfile(options);
  profiles.set(name, made);
  return made;
}

/** Closes what was open at an address. */
export async function closeVisits(url: string): Promise<void> {
  for (const [name, profile] of profiles) {
    if (!name.startsWith(`${url} `)) continue;
    profiles.delete(name);
    await (await profile).close();
  }
}

/** A new window at the gateway, that keeps what the browser complains of. */
export async function visit(options: VisitOptions): Promise<Visit> {
  const { url, scheme = "light", width = 1280, cookie } = options;
  const context = await profileOf(options);
  const page = await context.newPage();
  await page.setViewportSize({ width, height: 800 });
  await page.addInitScript(watchShifts);
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  return {
    page,
    complaints: await complaintsOf(page, url),
    settled: settling(page),
    close: () => (cookie === undefined ? context.close() : page.close()),
  };
}

/** What the browser complains of in a window, from now on. */
async function complaintsOf(page: Page, url: string): Promise<string[]> {
  const complaints: string[] = [];
  await page.exposeFunction("complain", (text: string) => void complaints.push(text));
  await page.addInitScript(
    "document.addEventListener('securitypolicyviolation', (e) => complain(`policy: ${e.violatedDirective} ${e.blockedURI}`))",
  );
  page.on("console", (message) => {
    if (message.type() === "error" && !expected.test(message.text()))
      complaints.push(`console: ${message.text()} ${message.location().url}`);
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
  return complaints;
}

const quietMs = 100;
/** True once the page has nothing left to do at the moment. */
const idle = "scheduler.postTask(() => true, { priority: 'background' })";

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
  const isQuiet = () => open.size === 0 && performance.now() - movedMs > quietMs;
  return async () => {
    await eventually(
      async () =>
        isQuiet() &&
        (await page.locator(".mantine-Skeleton-root").count()) === 0 &&
        // What an answer makes it ask for next, a slow machine asks for later than that.
        (await page.evaluate(idle).catch(() => false)) === true &&
        isQuiet(),
      `${page.url()} settles`,
    );
  };
}
