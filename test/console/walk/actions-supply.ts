/** Actions on providers and on the list of models. */
import { expect } from "vitest";
import { button, choose, dialog, press, alertWith, shows, undo, type Action } from "./action.ts";
import type { Walk } from "./people.ts";

/** Opens the page of a new provider. */
async function openProvider(walk: Walk) {
  const id = await walk.world.provider();
  await walk.page.goto(`/providers/${id}`);
  return { id, path: `/providers/${id}` };
}

const soon = { may: "++--" } as const;

const adding: readonly Action[] = [
  {
    ...soon,
    place: "providers",
    name: "add a provider of a known vendor",
    calls: ["POST /admin/v1/providers"],
    right: "provider.create",
    offer: (page) => button(page, "Add provider"),
    ask: () => ["POST", "/providers", { vendor: "mistral", api_key: "k" }],
    async act(walk) {
      const { page } = walk;
      const name = `vendor-of-${walk.who}`;
      await page.goto("/providers");
      await button(page, "Add provider").click();
      await choose(page, "Vendor", "Mistral");
      const form = page.getByRole("tabpanel");
      await form.getByLabel("Key", { exact: true }).fill("k");
      await form.getByLabel("Name", { exact: true }).fill(name);
      await press(page, "Add provider");
      await page.getByRole("heading", { name }).waitFor();
      await shows(walk, `/providers/${name}`, { id: name, source: "api" });
    },
  },
  {
    ...soon,
    place: "providers",
    name: "add a provider by hand",
    calls: ["POST /admin/v1/providers"],
    right: "provider.create",
    offer: (page) => button(page, "Add provider"),
    ask: () => ["POST", "/providers", { vendor: "mistral", api_key: "k" }],
    async act(walk) {
      const { page, world } = walk;
      const name = `hand-of-${walk.who}`;
      await page.goto("/providers?add=1");
      await page.getByRole("tab", { name: "By hand" }).click();
      for (const [label, text] of [
        ["Name", name],
        ["Address", `${world.upstream.url}/v1`],
        ["Model", `${name}/chat`],
        ["Context (tokens)", "10000"],
        ["Longest output (tokens)", "1000"],
        ["USD per million tokens in", "0.5"],
        ["USD per million tokens out", "2"],
      ] as const)
        await page.getByRole("tabpanel").getByLabel(label, { exact: true }).fill(text);
      await press(page, "Add provider");
      await page.getByRole("heading", { name }).waitFor();
      await shows(walk, `/providers/${name}`, { id: name, models: [`${name}/chat`] });
    },
  },
];

const moving: readonly Action[] = [
  {
    ...soon,
    place: "provider",
    name: "pause a provider, and take that back",
    calls: ["POST /admin/v1/providers/{id}/pause", "POST /admin/v1/providers/{id}/resume"],
    right: "provider.pause",
    offer: (page) => button(page, "Pause for 1 h"),
    ask: () => ["POST", "/providers/sandbox-openai/pause", {}],
    async act(walk) {
      const { path, id } = await openProvider(walk);
      await button(walk.page, "Pause for 1 h").click();
      await alertWith(walk.page, `${id} is paused`);
      await shows(walk, path, { paused_until: expect.any(String) as string });
      await undo(walk.page);
      await shows(walk, path, { paused_until: null });
    },
  },
  {
    ...soon,
    place: "provider",
    name: "let a paused provider go on, and take that back",
    calls: ["POST /admin/v1/providers/{id}/resume", "POST /admin/v1/providers/{id}/pause"],
    right: "provider.pause",
    // Resume replaces the pause button.
    offer: (page) => page.getByRole("button", { name: /^(?:Resume|Pause for 1 h)$/ }),
    ask: () => ["POST", "/providers/sandbox-openai/resume", {}],
    async act(walk) {
      const id = await walk.world.provider();
      const path = `/providers/${id}`;
      await walk.world.admin("POST", `${path}/pause`, {});
      await walk.page.goto(path);
      await button(walk.page, "Resume").click();
      await alertWith(walk.page, "gets calls again");
      await shows(walk, path, { paused_until: null });
      await undo(walk.page);
      await shows(walk, path, { paused_until: expect.any(String) as string });
    },
  },
  {
    ...soon,
    place: "provider",
    name: "test a provider",
    calls: ["POST /admin/v1/providers/{id}/test"],
    right: "provider.test",
    offer: (page) => button(page, "Test provider"),
    ask: () => ["POST", "/providers/sandbox-openai/test", {}],
    async act(walk) {
      const asked = walk.world.upstream.requests.length;
      await openProvider(walk);
      await button(walk.page, "Test provider").click();
      await walk.page.getByText(/^Answered \(200\) in /).waitFor();
      expect(walk.world.upstream.requests.length).toBe(asked + 1);
    },
  },
  {
    ...soon,
    place: "provider",
    name: "remove a provider by its typed name",
    calls: ["DELETE /admin/v1/providers/{id}"],
    right: "provider.delete",
    offer: (page) => button(page, "Remove provider"),
    ask: () => ["DELETE", "/providers/sandbox-openai"],
    async act(walk) {
      const { page, world } = walk;
      const { id, path } = await openProvider(walk);
      await button(page, "Remove provider").click();
      await dialog(page).getByLabel(`Type ${id} to confirm`).fill(id);
      await press(page, "Remove provider");
      await page.getByRole("heading", { name: "Providers" }).waitFor();
      expect((await world.gateway.admin("GET", path)).status).toBe(404);
    },
  },
];

const changing: readonly Action[] = [
  {
    ...soon,
    place: "provider",
    name: "change a provider",
    calls: ["PATCH /admin/v1/providers/{id}"],
    right: "provider.change",
    offer: (page) => button(page, "Save changes"),
    ask: () => ["PATCH", "/providers/sandbox-openai", { tier: "partner" }],
    async act(walk) {
      const { page, world } = walk;
      const { path } = await openProvider(walk);
      await page.getByLabel("Address").fill(`${world.upstream.url}/other`);
      await button(page, "Save changes").click();
      await alertWith(page, "Saved.");
      await shows(walk, path, { base_url: `${world.upstream.url}/other` });
    },
  },
  {
    ...soon,
    place: "provider",
    name: "give a provider another key",
    calls: ["POST /admin/v1/providers/{id}/credentials"],
    right: "provider.change",
    offer: (page) => button(page, "Add key"),
    ask: () => [
      "POST",
      "/providers/sandbox-openai/credentials",
      { id: "third", api_key: "key-three" },
    ],
    async act(walk) {
      const { page } = walk;
      await openProvider(walk);
      await page.getByLabel("Name of the key").fill("third");
      await page.locator('input[name="api_key"]').fill("key-three");
      await button(page, "Add key").click();
      await page.getByRole("row", { name: /^third 1 in use/ }).waitFor();
    },
  },
  {
    ...soon,
    place: "provider",
    name: "remove a key of a provider",
    calls: ["DELETE /admin/v1/providers/{id}/credentials/{credential_id}"],
    right: "provider.change",
    offer: (page) => button(page, "Remove key").first(),
    ask: () => ["DELETE", "/providers/sandbox-openai/credentials/default"],
    async act(walk) {
      const { page } = walk;
      const { path } = await openProvider(walk);
      const row = page.getByRole("row", { name: /^two / });
      await row.getByRole("button").click();
      await press(page, "Remove key");
      await row.waitFor({ state: "detached" });
      await shows(walk, path, { credentials: [{ id: "one" }] });
    },
  },
];

const fresh = {
  limit: { context: 8192, output: 1024 },
  modalities: { input: ["text"], output: ["text"] },
  cost: { input: 0.5, output: 1 },
};
const newerList = JSON.stringify({ groq: { models: { "new-model": fresh } } });

const catalogue: readonly Action[] = [
  {
    ...soon,
    place: "catalogue",
    name: "look at a newer list of models and take it over",
    calls: ["POST /admin/v1/catalog"],
    right: "catalog.change",
    offer: (page) => page.getByLabel("A newer list"),
    ask: () => ["POST", "/catalog", { source: "api.json", list: newerList }],
    async act(walk) {
      const { page } = walk;
      await page.goto("/models");
      await button(page, "Catalogue update").click();
      const lists = page.getByRole("table", { name: "Lists of models" });
      await lists.waitFor();
      await page.locator('input[type="file"]').setInputFiles({
        name: "api.json",
        mimeType: "application/json",
        buffer: Buffer.from(newerList),
      });
      await page.getByRole("row", { name: "groq/new-model - input 0.5, output 1" }).waitFor();
      await button(page, "Apply list").click();
      await button(page, "Apply this list").click();
      await lists.getByRole("row", { name: /^\d+, .* api\.json 1 in use$/ }).waitFor();
    },
  },
  {
    ...soon,
    place: "catalogue",
    name: "go back to an older list of models",
    calls: ["POST /admin/v1/catalog/rollback"],
    right: "catalog.change",
    offer: (page) => page.getByRole("table", { name: "Lists of models" }),
    ask: () => ["POST", "/catalog/rollback", { version: 0 }],
    async act(walk) {
      const { page, world } = walk;
      await world.admin("POST", "/catalog", { source: "api.json", list: newerList });
      await page.goto("/models?catalog=1");
      const lists = page.getByRole("table", { name: "Lists of models" });
      await lists.getByRole("button", { name: "Use list 0" }).click();
      await button(page, "Use this list").click();
      await lists.getByRole("row", { name: /^0 shipped \d+ in use$/ }).waitFor();
    },
  },
];

export const supplyActions: readonly Action[] = [...adding, ...moving, ...changing, ...catalogue];
