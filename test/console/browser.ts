/** A real browser for the tests of the console, and everything that it complains about. */
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

/** The headless shell first: it takes three quarters of the time. */
const places = [
  process.env["TOLLGATE_TEST_CHROMIUM"] ?? "",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** The features that Playwright turns off. Chromium uses only the last list, so ours begins with Playwright's. */
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
 * Browser pages that no test sees. Each window drew two lists of suggestions under its address bar, in a separate process, for
 * longer than our page takes. A process was also kept ready for the next site.
 */
const neverSeen = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "SpareRendererForSitePerProcess",
];

/** Starts Chromium. @throws Error with advice if none is installed */
async function startBrowser(): Promise<Browser> {
  const executablePath = places.find((path) => path !== "" && existsSync(path));
  if (executablePath === undefined) {
    throw new Error(
      "These tests need Chromium: `apt-get install chromium-headless-shell`, or name one in TOLLGATE_TEST_CHROMIUM.",
    );
  }
  // Chromium's own sandbox needs rights that containers and root lack; it opens only our pages. Without a graphics card, a
  // process that emulates one takes a tenth of the time. Windows of one person share a process, with its compiled scripts.
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--process-per-site"];
  // A page lives for less time than the optimized compilation of its scripts takes. Drawing needs no separate process: a page
  // then loads in four fifths of the time.
  args.push("--js-flags=--no-opt,--no-maglev,--single-threaded");
  args.push("--in-process-gpu", "--num-raster-threads=1");
  args.push(`--disable-features=${[...leftOutByPlaywright, ...neverSeen].join(",")}`);
  return chromium.launch({ executablePath, args });
}

/** The one browser of this test process: the pipe between them ends it with the process. */
let shared: Promise<Browser> | undefined;

export interface Visit {
  readonly page: Page;
  /** Complaints so far: console errors, violations of the policy, calls of other hosts, uncaught errors. */
  readonly complaints: string[];
  /** Waits until the page has made no requests for a moment and shows no loading placeholder; its event stream does not count. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface VisitOptions {
  readonly url: string;
  readonly scheme?: "light" | "dark";
  readonly width?: number;
  /** As `name=value; name=value`, of a signed-in user. */
  readonly cookie?: string;
}

const cookiesOf = (cookie: string, url: string) =>
  cookie.split("; ").map((one) => {
    const [name = "", ...value] = one.split("=");
    return { name, value: value.join("="), url };
  });

/** Error answers that a page expects, such as that of `/me` before a sign-in, are no complaint. */
const expected = /the server responded with a status of (?:400|401|402|403|404|409|412|429)/;

/**
 * Profiles by address and cookie. Windows of one person share what they have loaded, as on a real machine. Users who are not
 * signed in have one of their own.
 */
const profiles = new Map<string, Promise<BrowserContext>>();

async function newProfile({ url, cookie }: VisitOptions): Promise<BrowserContext> {
  const context = await (
    await (shared ??= startBrowser())
  ).newContext({
    baseURL: url,
    // Elements that fade in have other contrasts for a moment.
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

/** Closes all windows at an address. */
export async function closeVisits(url: string): Promise<void> {
  for (const [name, profile] of profiles) {
    if (!name.startsWith(`${url} `)) continue;
    profiles.delete(name);
    await (await profile).close();
  }
}

/** A new window at the gateway that collects the browser's complaints. */
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

/** Collects the browser's complaints in a window from now on. */
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
/** True once the page is idle. */
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
        // On a slow machine, the follow-up requests of an answer come later than that.
        (await page.evaluate(idle).catch(() => false)) === true &&
        isQuiet(),
      `${page.url()} settles`,
    );
  };
}
