/** Actions on keys. */
import { expect } from "vitest";
import {
  button,
  choose,
  dialog,
  press,
  alertWith,
  save,
  shows,
  undo,
  type Action,
} from "./action.ts";
import type { Walk } from "./people.ts";

/** Opens the page of a new key of the person. */
async function openKey(walk: Walk, tab = "use", more: object = {}) {
  const made = await walk.key(walk.fresh("key"), more);
  await walk.page.goto(`/keys/${made.id}?tab=${tab}`);
  return { ...made, path: `/keys/${made.id}` };
}

const making: readonly Action[] = [
  {
    place: "keys",
    name: "make a key",
    calls: ["POST /admin/v1/keys"],
    right: "key.create",
    may: "++++",
    offer: (page) => button(page, "New key"),
    async act(walk) {
      const { page, world } = walk;
      const name = walk.fresh("made");
      await page.goto(`/keys?ws=${world.home.id}`);
      await button(page, "New key").click();
      await dialog(page).getByLabel("Name").fill(name);
      await press(page, "Create");
      await page.getByText(/^gw_live_\w{20,}$/).waitFor();
      const { data } = await walk.must("GET", `/keys?q=${encodeURIComponent(name)}`);
      expect(data).toMatchObject([{ name, created_by: walk.userId, workspace_id: world.home.id }]);
    },
  },
  {
    place: "new key",
    name: "make a key for somebody else",
    calls: ["POST /admin/v1/keys"],
    right: "key.create_for_member",
    may: "+++-",
    offer: (page) => page.getByRole("combobox", { name: "For" }),
    ask: ({ world }) => [
      "POST",
      "/keys",
      { workspace_id: world.home.id, name: "for mel", user_id: world.mel.userId },
    ],
    async act(walk) {
      const { page, world } = walk;
      const name = walk.fresh("for mel");
      await page.goto(`/keys?ws=${world.home.id}&new=1`);
      await dialog(page).getByLabel("Name").fill(name);
      await choose(page, "For", world.mel.email);
      await press(page, "Create");
      await page.getByText(`for ${world.mel.email}`).waitFor();
      const { data } = await walk.must("GET", `/keys?q=${encodeURIComponent(name)}`);
      expect(data).toMatchObject([{ name, created_by: world.mel.userId }]);
    },
  },
];

const moving: readonly Action[] = [
  {
    place: "key",
    name: "disable a key, and take that back",
    calls: ["POST /admin/v1/keys/{id}/disable", "POST /admin/v1/keys/{id}/enable"],
    right: "key.disable",
    may: "++++",
    offer: (page) => button(page, "Disable"),
    async act(walk) {
      const { path } = await openKey(walk);
      await button(walk.page, "Disable").click();
      await alertWith(walk.page, "is disabled");
      await shows(walk, path, { status: "disabled" });
      await undo(walk.page);
      await shows(walk, path, { status: "active" });
    },
  },
  {
    place: "key",
    name: "revoke a key by its typed name",
    calls: ["POST /admin/v1/keys/{id}/revoke"],
    right: "key.revoke",
    may: "++++",
    offer: (page) => button(page, "Revoke"),
    async act(walk) {
      const { page } = walk;
      const { path } = await openKey(walk);
      const { name } = await walk.must("GET", path);
      await button(page, "Revoke").click();
      await dialog(page).getByLabel(`Type ${name} to confirm`).fill(name);
      await press(page, "Revoke key");
      await alertWith(page, "is revoked");
      await shows(walk, path, { status: "revoked" });
      await button(page, "Revoke").waitFor({ state: "detached" });
    },
  },
  {
    place: "key",
    name: "see the value of a key",
    calls: ["POST /admin/v1/keys/{id}/reveal"],
    right: "key.reveal",
    may: "++++",
    offer: (page) => button(page, "Reveal"),
    async act(walk) {
      const { key } = await openKey(walk);
      await button(walk.page, "Reveal").click();
      await walk.page.getByText(key).waitFor();
    },
  },
  {
    place: "key",
    name: "give a key a new value",
    calls: ["POST /admin/v1/keys/{id}/rotate"],
    right: "key.rotate",
    may: "++++",
    offer: (page) => button(page, "Rotate"),
    async act(walk) {
      const { page } = walk;
      const { key, path } = await openKey(walk);
      await button(page, "Rotate").click();
      await press(page, "Rotate key");
      const value = page.getByRole("region", { name: "the key" }).getByText(/^gw_live_/);
      expect(await value.innerText()).not.toBe(key);
      await shows(walk, path, { key_last4: (await value.innerText()).slice(-4) });
    },
  },
];

const patch = "PATCH /admin/v1/keys/{id}";

const changing: readonly Action[] = [
  {
    place: "key, caps",
    name: "rename a key, and take that back",
    calls: [patch],
    right: "key.change",
    may: "++++",
    offer: (page) => page.getByLabel("Name", { exact: true }),
    async act(walk) {
      const { page } = walk;
      const { path } = await openKey(walk, "caps");
      const { name } = await walk.must("GET", path);
      await page.getByLabel("Name", { exact: true }).fill(`${name}, renamed`);
      await save(page);
      await shows(walk, path, { name: `${name}, renamed` });
      await undo(page);
      await shows(walk, path, { name });
    },
  },
  {
    place: "key, caps",
    name: "lower the cap of a key",
    isAlone: true,
    calls: [patch],
    right: "key.change",
    may: "++++",
    offer: (page) => page.getByLabel("Daily cap (USD)"),
    async act(walk) {
      const { page } = walk;
      const { path } = await openKey(walk, "caps", { spend_caps: { daily: "5" } });
      await page.getByLabel("Daily cap (USD)").fill("2.50");
      await save(page);
      await shows(walk, path, { spend_caps: { daily: "2.5" } });
      // A person who may not raise it again gets no Undo, which would be refused.
      expect(await button(page, "Undo").count()).toBe(walk.who === "member" ? 0 : 1);
    },
  },
  {
    place: "key, caps",
    name: "raise the cap of a key",
    calls: [patch],
    right: "key.loosen_spend_caps",
    may: "+++-",
    offer: (page) => page.getByLabel("Daily cap (USD)"),
    instead: (page) => page.getByText("You can lower a cap. Only a workspace admin can raise one."),
    ask: ({ own }) => ["PATCH", `/keys/${own.key}`, { spend_caps: { daily: "45" } }],
    async act(walk) {
      const { page } = walk;
      const { path } = await openKey(walk, "caps", { spend_caps: { daily: "5" } });
      await page.getByLabel("Daily cap (USD)").fill("9");
      await save(page);
      await shows(walk, path, { spend_caps: { daily: "9" } });
      await undo(page);
      await shows(walk, path, { spend_caps: { daily: "5" } });
    },
  },
  {
    place: "key, models",
    name: "choose the models of a key",
    calls: [patch],
    right: "key.change",
    may: "++++",
    offer: (page) => page.getByRole("combobox", { name: "Models that may be called" }),
    async act(walk) {
      const { page } = walk;
      const { path } = await openKey(walk, "models");
      await page.getByRole("combobox", { name: "Models that may be called" }).fill("sandbox/multi");
      await page.getByRole("option", { name: "sandbox/multi" }).click();
      await page.keyboard.press("Escape");
      await save(page);
      await shows(walk, path, { model_allowlist: ["sandbox/multi"] });
    },
  },
  {
    place: "key, routing",
    name: "give a key routing of its own",
    calls: [patch],
    also: ["POST /admin/v1/routing/preview"],
    right: "key.change",
    may: "++++",
    offer: (page) => page.getByRole("switch", { name: "Own routing" }),
    async act(walk) {
      const { page } = walk;
      const { path } = await openKey(walk, "routing");
      await page.getByRole("switch", { name: "Own routing" }).click();
      await choose(page, "Order", "price");
      await save(page);
      await shows(walk, path, { routing: { mode: "custom", sort: "price" } });
      await undo(page);
      await shows(walk, path, { routing: { mode: "follow" } });
    },
  },
  {
    place: "key, routing",
    name: "see where a call would go",
    calls: ["POST /admin/v1/routing/preview"],
    right: "key.read",
    may: "++++",
    offer: (page) => page.getByRole("combobox", { name: "Model", exact: true }),
    async act(walk) {
      await openKey(walk, "routing");
      await choose(walk.page, "Model", "sandbox/multi");
      const preview = walk.page.getByRole("table", { name: "Where it would go" });
      await preview.getByRole("row", { name: /sandbox-anthropic.*number/ }).waitFor();
    },
  },
];

export const keyActions: readonly Action[] = [...making, ...moving, ...changing];
