/**
 * Providers and models in the console. An operator has a failing provider, and adds, changes and removes one. Models that can be
 * called, with their prices, compared and updated. Other people's view of it.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { defaultHealthRules } from "../../src/routing/index.ts";
import { answering, secretKey } from "../providers/support.ts";
import { eventually } from "../support/patience.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { isLong } from "../support/long.ts";
import { seriousFindings } from "./axe.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

const offer = (provider: string, more = "") =>
  `{ provider: ${provider}, protocol: chat, upstream_model: "${provider}-m", price: { input: "1", output: "1" }${more} }`;
const model = (id: string, ...offers: string[]) => `
  - { id: ${id}, kind: text, context_length: 1000, max_output_tokens: 100, offers: [${offers.join(", ")}] }`;
const tiers = [
  'price_above: { input_tokens: 500, price: { input: "2.5", output: "3" } }',
  'price_hours: [{ hours_utc: ["01:00-04:00", "06:00-10:00"], days: [mon, fri], price: { input: "2", output: "2" }, price_above: { input_tokens: 500, price: { input: "5", output: "6" } } }]',
  'later_prices: [{ from: "2031-01-01T00:00:00Z", price: { input: "0.25", output: "0.75" } }]',
];
const tiered = `, ${tiers.join(", ")}`;
const many = Array.from({ length: 500 }, (_, index) =>
  model(`many/model-${index}`, offer("zeta")),
).join("");
/** `acme` will fail: `zeta` also serves one of its models, and no provider serves the other one. */
const config = (url: string) => `
providers:
  - { id: acme, dialect: openai-compatible, base_url: "${url}/acme", api_key: k1 }
  - { id: zeta, dialect: openai-compatible, base_url: "${url}/zeta", api_key: k2 }
models:${model("acme/both", offer("acme"), offer("zeta", tiered))}${model("acme/single", offer("acme"))}${many}
  - id: acme/narrow
    kind: text
    context_length: 200000
    max_output_tokens: 4000
    parameters: { temperature: { max: 1 }, top_p: false }
    offers: [{ provider: zeta, protocol: chat, upstream_model: n, price: { input: "0.3", output: "0.9" } }]
`;

const hourMs = 3_600_000;
/** An open circuit stays open, because a test reads it. */
const health = {
  ...defaultHealthRules,
  circuit: { ...defaultHealthRules.circuit, firstPauseMs: hourMs, pauseMsMax: hourMs },
};
const markup = `<img src=x onerror=alert(1)>`;
const refusing = json({ error: { message: `Down for today ${markup}` } }, 500);

let world: ConsoleWorld;
let upstream: Recorder;
beforeAll(async () => {
  upstream = await startRecorder((request, response) =>
    (request.path.startsWith("/acme") ? refusing : answering)(request, response),
  );
  world = await startConsoleWorld({
    config: config(upstream.url),
    health,
    environment: { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on" },
  });
  const { key } = await world.keyOf(world.ann, world.home.id);
  // Failures in a row open its circuit. The circuit is by provider here, so both models are affected.
  await eventually(async () => {
    await world.chat(key, {}, "acme/single");
    const { json: body } = await world.root.call("GET", "/providers");
    return body.data[0].health.out.length === 2;
  }, "acme out");
});
afterAll(async () => {
  await world.close();
  await upstream.close();
});

/** Counts the reader's clicks. */
function presses(page: Page) {
  let count = 0;
  return {
    count: () => count,
    press: async (role: "link" | "button", name: string | RegExp) => {
      count += 1;
      await page.getByRole(role, { name }).click();
    },
  };
}

it("from any page one click leads to a failing provider's cause, one more pauses it, and Undo resumes it", async () => {
  const { page, complaints, close } = await world.open("root");
  await page.goto("/start");
  const clicks = presses(page);
  await clicks.press("link", "1 provider out");
  await page.getByRole("heading", { name: "acme" }).waitFor();
  expect(clicks.count()).toBe(1);
  await page
    .getByRole("status")
    .getByText(/^Out \(2 of 2\)\. Since \d\d:\d\d\. /)
    .waitFor();
  const affected = page.getByRole("table", { name: "Affected models" });
  await affected.getByRole("row", { name: "acme/both zeta" }).waitFor();
  await affected.getByRole("row", { name: "acme/single no provider: its calls fail" }).waitFor();
  await page.getByText(/ failed \(100 %\), on all gateways\./).waitFor();
  const errors = page.getByRole("table", { name: "Errors of the last hour" });
  // Message of the vendor are text, whatever they look like.
  await errors.getByText(`Down for today ${markup}`).waitFor();
  await clicks.press("button", "Pause for 1 h");
  await page
    .getByRole("status")
    .getByText(/^Paused\. It gets no new calls until/)
    .waitFor();
  expect(clicks.count()).toBe(2);
  const { json: paused } = await world.root.call("GET", "/providers/acme");
  expect(Date.parse(paused.paused_until) - Date.now()).toBeGreaterThan(hourMs - 60_000);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator("output").getByText(/^Out/).waitFor();
  const { json: resumed } = await world.root.call("GET", "/providers/acme");
  expect(resumed.paused_until).toBeNull();
  await page.getByRole("button", { name: "Test provider" }).click();
  const answer = page.getByLabel("Answer of the test");
  await answer.getByText(/^No answer \(500\) in .*, key default$/).waitFor();
  await answer.getByText("Down for today").waitFor();
  expect(await page.getByRole("button", { name: "Remove provider" }).isDisabled()).toBe(true);
  // A call that failed is of no provider: it is found by the one that was asked.
  await page.getByRole("link", { name: "Failed calls that tried it" }).click();
  await page.getByRole("button", { name: "Remove the filter asked: acme" }).waitFor();
  await page.getByRole("row").filter({ hasText: "acme/single" }).first().waitFor();
  await page.goBack();
  await page
    .getByText(/Defined in the configuration file, line 3; change it there\./)
    .first()
    .waitFor();
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)(
  "a provider is added by hand, gets a second key, is tested, changed, and removed after its name is typed",
  async () => {
    const { page, complaints, close } = await world.open("root");
    await page.goto("/providers");
    await page.getByRole("button", { name: "Add provider" }).click();
    await page.getByRole("tab", { name: "By hand" }).click();
    const dialog = page.getByRole("tabpanel");
    await dialog.getByLabel("Name", { exact: true }).fill("beta");
    await dialog.getByLabel("Address").fill(`${upstream.url}/v1`);
    await dialog.getByLabel("Key", { exact: true }).fill(secretKey);
    await dialog.getByLabel("Model", { exact: true }).fill("beta/chat");
    await dialog.getByLabel("Context (tokens)").fill("10000");
    await dialog.getByLabel("Longest output (tokens)").fill("1000");
    await dialog.getByLabel("USD per million tokens in").fill("0.5");
    await dialog.getByLabel("USD per million tokens out").fill("2");
    await dialog.getByRole("button", { name: "Add provider" }).click();
    await page.getByRole("heading", { name: "beta" }).waitFor();
    await page.getByRole("button", { name: "Test provider" }).click();
    await page.getByText(/^Answered \(200\) in /).waitFor();
    expect(upstream.requests.at(-1)!.headers.authorization).toBe(`Bearer ${secretKey}`);
    await page.getByLabel("Name of the key").fill("second");
    await page.getByLabel("Key", { exact: true }).fill("k-second");
    await page.getByRole("button", { name: "Add key" }).click();
    const keys = page.getByRole("table", { name: "Keys" });
    await keys.getByRole("row", { name: /^second 1 in use/ }).waitFor();
    // After it was sent, no key is in any page.
    expect(await page.content()).not.toMatch(/k-second|sk-live-/);
    await keys
      .getByRole("row", { name: /^second/ })
      .getByRole("button")
      .click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove key" }).click();
    await keys.getByRole("row", { name: /^second/ }).waitFor({ state: "detached" });
    await page.getByLabel("Address").fill(`${upstream.url}/other`);
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByText(`${upstream.url}/other`).waitFor();
    await page.getByRole("button", { name: "Remove provider" }).click();
    const confirm = page.getByRole("dialog").getByRole("button", { name: "Remove provider" });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByRole("dialog").getByLabel("Type beta to confirm").fill("beta");
    await confirm.click();
    await page.getByRole("heading", { name: "Providers" }).waitFor();
    await page.getByRole("link", { name: "beta" }).waitFor({ state: "detached" });
    expect((await world.root.call("GET", "/providers/beta")).status).toBe(404);
    expect(complaints).toEqual([]);
    await close();
  },
);

it.skipIf(!isLong)(
  "a refusal is shown in the form, and an unknown provider is not found",
  async () => {
    const { page, complaints, close } = await world.open("root");
    await page.goto("/providers?add=1");
    const dialog = page.getByRole("tabpanel");
    await dialog.getByRole("combobox", { name: "Vendor" }).click();
    await page.getByRole("option", { name: "Mistral" }).click();
    await dialog.getByLabel("Key", { exact: true }).fill("k");
    await dialog.getByLabel("Name", { exact: true }).fill("acme");
    await dialog.getByRole("button", { name: "Add provider" }).click();
    await dialog
      .getByText(/The provider "acme" is defined in the configuration file, line 3/)
      .waitFor();
    await dialog.getByLabel("Name", { exact: true }).fill("");
    await dialog.getByRole("button", { name: "Add provider" }).click();
    await page.getByRole("heading", { name: "mistral" }).waitFor();
    world.must(await world.root.call("DELETE", "/providers/mistral"));
    await page.goto("/providers/none");
    await page.getByText("There is no such provider").waitFor();
    await page.goto("/providers?q=nothing-like-it");
    await page.getByText("No provider has this in its name or its models.").waitFor();
    expect(complaints).toEqual([]);
    await close();
  },
);

it("workspace admins and members see states and models, and no buttons", async () => {
  for (const who of ["ann", "mem"] as const) {
    const { page, complaints, close, settled } = await world.open(who);
    await page.goto("/providers");
    const row = page.getByRole("row", { name: "acme out (2 of 2) 2", exact: true });
    await row.waitFor();
    expect(await page.getByRole("button", { name: "Add provider" }).count()).toBe(0);
    expect(await page.getByText("provider out").count()).toBe(0);
    await row.getByRole("link").click();
    await page.getByRole("table", { name: "Affected models" }).waitFor();
    await settled();
    for (const name of ["Pause for 1 h", "Test provider", "Remove provider", "Add key"])
      expect(await page.getByRole("button", { name }).count()).toBe(0);
    expect(await page.content()).not.toMatch(/127\.0\.0\.1:\d+\/acme|Down for today/);
    expect(complaints).toEqual([]);
    await close();
  }
});

/** Checks with axe in both schemes. */
async function expectAccessible({ page, settled }: Visit) {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await settled();
    expect({ colorScheme, found: await seriousFindings(page) }).toEqual({ colorScheme, found: [] });
  }
}

it.skipIf(!isLong)(
  "a failing provider's page and the forms are accessible in both schemes",
  async () => {
    const visit = await world.open("root");
    for (const path of ["/providers/acme", "/providers?add=1", "/models?catalog=1"]) {
      await visit.page.goto(path);
      await expectAccessible(visit);
    }
    await visit.close();
  },
);

it.skipIf(!isLong)(
  "500 models are shown a few rows at a time, and filters by text, provider and key are in the address",
  async () => {
    const { page, complaints, close, settled } = await world.open("mem");
    const created = await world.mem.call("POST", "/keys", {
      workspace_id: world.home.id,
      name: "narrow",
      model_allowlist: ["acme/both", "many/model-7"],
    });
    const { id } = world.must(created);
    await page.goto("/models");
    await page.getByRole("table", { name: "503 of 503 models" }).waitFor();
    await settled();
    expect(await page.getByRole("row").count()).toBeLessThan(80);
    // The last row is drawn only when it is scrolled into view.
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await page.getByRole("link", { name: "acme/narrow" }).waitFor();
    await page.getByLabel("Id or name").fill("MODEL-49");
    await page.getByRole("table", { name: "11 of 503 models" }).waitFor();
    expect(new URL(page.url()).search).toBe("?q=MODEL-49");
    await page.goto("/models");
    await page.getByRole("combobox", { name: "Only models of this key" }).click();
    await page.getByRole("option", { name: /^narrow/ }).click();
    await page.getByRole("table", { name: "2 of 503 models" }).waitFor();
    await page.waitForURL(`**/models?usable-by=${id}`);
    await page.getByRole("row", { name: /acme\/both text 1,000 1 1 acme out, zeta/ }).waitFor();
    await page.reload();
    await page.getByRole("link", { name: "many/model-7" }).waitFor();
    await page.getByRole("combobox", { name: "Provider" }).click();
    await page.getByRole("option", { name: "acme" }).click();
    await page.getByRole("table", { name: "1 of 503 models" }).waitFor();
    await page.goto("/models?q=none-like-it");
    await page.getByText("No models match these filters.").waitFor();
    expect(await page.getByRole("button", { name: "Catalogue update" }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await close();
  },
);

it.skipIf(!isLong)(
  "a model's page shows exact domains, each price with size and date, and links to code",
  async () => {
    const { page, complaints, close, settled } = await world.open("ann");
    await page.goto("/models/acme/both");
    const price = page.getByRole("table", { name: "Price at zeta" });
    await price.getByRole("row", { name: "input 1 a million tokens" }).waitFor();
    const rows = await price.locator("tbody tr").allInnerTexts();
    const cells = rows.map((row) => row.replaceAll(/\s+/g, " ").trim());
    expect(cells).toEqual([
      "input 1 a million tokens",
      "output 1 a million tokens",
      "with more than 500 tokens in",
      "input 2.5 a million tokens",
      "output 3 a million tokens",
      "01:00-04:00 and 06:00-10:00 UTC on mon, fri",
      "input 2 a million tokens",
      "output 2 a million tokens",
      "01:00-04:00 and 06:00-10:00 UTC on mon, fri, with more than 500 tokens in",
      "input 5 a million tokens",
      "output 6 a million tokens",
      "from 2031-01-01 (UTC)",
      "input 0.25 a million tokens",
      "output 0.75 a million tokens",
    ]);
    await page.getByText(/^out: circuit open since /).waitFor();
    expect(await page.content()).not.toMatch(/acme-m|zeta-m/);
    // Its usage is that of the selected workspace.
    const asked = page.waitForRequest(/usage\?.*workspace_id=/);
    await page.goto(`/models/acme/narrow?ws=${world.home.id}`);
    await asked;
    const parameters = page.getByRole("table", { name: "Parameters" });
    await parameters
      .getByRole("row", { name: "temperature a number from 0 to 1", exact: true })
      .waitFor();
    await parameters.getByRole("row", { name: "verbosity one of low, medium, high" }).waitFor();
    expect(await parameters.getByRole("row", { name: /^top_p/ }).count()).toBe(0);
    await page.getByRole("link", { name: "Code for this model" }).click();
    await page.locator("pre", { hasText: '"model":"acme/narrow"' }).waitFor();
    await page.goto("/models/acme/none");
    await page.getByText("There is no such model").waitFor();
    await settled();
    expect(complaints).toEqual([]);
    await close();
  },
);

it.skipIf(!isLong)("the comparison of models shows differing rows first", async () => {
  const { page, complaints, close } = await world.open("mem");
  await page.goto("/models?q=acme");
  for (const id of ["acme/both", "acme/narrow"])
    await page.getByRole("checkbox", { name: `Compare ${id}` }).check();
  await page.getByRole("link", { name: "Compare (2)" }).click();
  const table = page.getByRole("table", { name: "Comparison" });
  await table
    .getByRole("row", { name: "temperature a number from 0 to 2 a number from 0 to 1" })
    .waitFor();
  const names = await table.locator("tbody th").allInnerTexts();
  expect(names.indexOf("temperature")).toBeLessThan(names.indexOf("seed"));
  expect(new URL(page.url()).search).toBe("?ids=acme/both,acme/narrow");
  await page.goto("/models/compare?ids=acme/both,none/such");
  await page.getByText("There is no none/such.").waitFor();
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)("a newer list of models is previewed, applied and rolled back", async () => {
  const { page, complaints, close } = await world.open("root");
  const choose = (text: string) =>
    page.locator('input[type="file"]').setInputFiles({
      name: "api.json",
      mimeType: "application/json",
      buffer: Buffer.from(text),
    });
  await page.goto("/models");
  await page.getByRole("button", { name: "Catalogue update" }).click();
  const lists = page.getByRole("table", { name: "Lists of models" });
  await lists.getByRole("row", { name: /^0 shipped \d+ in use$/ }).waitFor();
  await choose("no list");
  await page.getByRole("alert").getByText("The list is refused").waitFor();
  const limit = { context: 8192, output: 1024 };
  const modalities = { input: ["text"], output: ["text"] };
  const fresh = { limit, modalities, cost: { input: 0.5, output: 1 } };
  await choose(JSON.stringify({ groq: { models: { "new-model": fresh } } }));
  await page.getByRole("row", { name: "groq/new-model - input 0.5, output 1" }).waitFor();
  await page.getByRole("button", { name: "Apply list", exact: true }).click();
  await page.getByRole("button", { name: "Apply this list" }).click();
  await lists.getByRole("row", { name: /^1, .* api\.json 1 in use$/ }).waitFor();
  await lists.getByRole("button", { name: "Use list 0" }).click();
  await page.getByRole("button", { name: "Use this list" }).click();
  await lists.getByRole("row", { name: /^0 shipped \d+ in use$/ }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});
