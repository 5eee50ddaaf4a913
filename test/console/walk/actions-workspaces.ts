/** Actions on organizations, workspaces, and a workspace's money. */
import { expect } from "vitest";
import {
  button,
  choose,
  dialog,
  home,
  press,
  alertWith,
  save,
  shows,
  undo,
  type Action,
} from "./action.ts";
import type { Walk } from "./people.ts";

interface Filled {
  readonly label: string;
  readonly text: string;
  /** Fields of the workspace that the API shows after the change, and after its undo. */
  readonly after: object;
  readonly before: object;
}

/** Opens the settings of `home`, fills in one field, saves it and undoes that. */
async function changeHome(walk: Walk, { label, text, after, before }: Filled): Promise<void> {
  const { page } = walk;
  await page.goto(`/settings${home(walk)}`);
  await page.getByLabel(label, { exact: true }).fill(text);
  await save(page);
  await shows(walk, home(walk), after);
  await undo(page);
  await shows(walk, home(walk), before);
}

const patch = "PATCH /admin/v1/workspaces/{id}";

const workspaces: readonly Action[] = [
  {
    place: "workspaces",
    name: "make a workspace",
    calls: ["POST /admin/v1/workspaces"],
    right: "workspace.create",
    may: "++--",
    offer: (page) => button(page, "New workspace"),
    ask: () => ["POST", "/workspaces", { name: "not to be" }],
    async act(walk) {
      const { page } = walk;
      const name = walk.fresh("workspace");
      await page.goto("/settings/workspaces");
      await button(page, "New workspace").click();
      await dialog(page).getByLabel("Name").fill(name);
      await press(page, "Create");
      await page.getByRole("heading", { name: `Workspace ${name}` }).waitFor();
      await shows(walk, `/workspaces/${new URL(page.url()).pathname.split("/").at(-1)}`, { name });
    },
  },
  {
    place: "workspace",
    name: "change a workspace, and take that back",
    calls: [patch],
    right: "workspace.change",
    may: "+++-",
    offer: (page) => page.getByLabel("Name", { exact: true }),
    ask: (walk) => ["PATCH", home(walk), { name: "taken over" }],
    act: (walk) => {
      const name = walk.fresh("home");
      return changeHome(walk, {
        label: "Name",
        text: name,
        after: { name },
        before: { name: "home" },
      });
    },
  },
  {
    place: "workspace",
    name: "keep calls of a workspace word for word",
    isAlone: true,
    calls: [patch],
    right: "workspace.change",
    may: "+++-",
    offer: (page) => page.getByRole("combobox", { name: "Store the text of" }),
    ask: (walk) => ["PATCH", home(walk), { keep_bodies: "all" }],
    async act(walk) {
      const { page } = walk;
      await page.goto(`/settings${home(walk)}`);
      await choose(page, "Store the text of", "Calls that failed");
      await save(page);
      await shows(walk, home(walk), { keep_bodies: "errors" });
      await undo(page);
      await shows(walk, home(walk), { keep_bodies: "off" });
    },
  },
  {
    place: "workspace",
    name: "set the spend caps of a workspace",
    calls: [patch],
    right: "workspace.set_spend_caps",
    may: "++--",
    offer: (page) => page.getByLabel("Monthly cap (USD)"),
    ask: (walk) => ["PATCH", home(walk), { spend_caps: { monthly: "500" } }],
    act: (walk) =>
      changeHome(walk, {
        label: "Monthly cap (USD)",
        text: "700",
        after: { spend_caps: { monthly: "700" } },
        before: { spend_caps: { monthly: null } },
      }),
  },
  {
    place: "workspace",
    name: "set the rate limits of a workspace",
    calls: [patch],
    right: "workspace.set_rate_limits",
    may: "++--",
    offer: (page) => page.getByLabel("Tokens per minute"),
    ask: (walk) => ["PATCH", home(walk), { rate_limits: { tokens_per_minute: 90_000 } }],
    act: (walk) =>
      changeHome(walk, {
        label: "Tokens per minute",
        text: "90000",
        after: { rate_limits: { tokens_per_minute: 90_000 } },
        before: { rate_limits: null },
      }),
  },
  {
    place: "workspace",
    name: "set the credit line of a workspace",
    isAlone: true,
    calls: [patch],
    right: "workspace.set_credit_line",
    may: "++--",
    offer: (page) => page.getByLabel("Credit line (USD)"),
    ask: (walk) => ["PATCH", home(walk), { credit_line: "25" }],
    act: (walk) =>
      changeHome(walk, {
        label: "Credit line (USD)",
        text: "12",
        after: { credit_line: "12" },
        before: { credit_line: "0" },
      }),
  },
  {
    place: "workspace",
    name: "disable a workspace by its typed name, and enable it",
    calls: [patch],
    right: "workspace.set_status",
    may: "++--",
    offer: (page) => button(page, "Disable"),
    ask: (walk) => ["PATCH", home(walk), { status: "disabled" }],
    async act(walk) {
      const { page, world } = walk;
      const name = walk.fresh("to disable");
      const { id } = await world.admin("POST", "/workspaces", { name });
      await page.goto(`/settings/workspaces/${id}`);
      await button(page, "Disable").click();
      await dialog(page).getByLabel(`Type ${name} to confirm`).fill(name);
      await press(page, "Disable workspace");
      await alertWith(page, "is disabled");
      await shows(walk, `/workspaces/${id}`, { status: "disabled" });
      await button(page, "Enable").click();
      await shows(walk, `/workspaces/${id}`, { status: "active" });
    },
  },
];

const organizations: readonly Action[] = [
  {
    place: "organization",
    name: "make an organization",
    calls: ["POST /admin/v1/organizations"],
    right: "organization.create",
    may: "++--",
    offer: (page) => button(page, "New organization"),
    ask: () => ["POST", "/organizations", { name: "not to be" }],
    async act(walk) {
      const { page } = walk;
      const name = walk.fresh("organization");
      await page.goto("/settings/organization");
      await button(page, "New organization").click();
      await dialog(page).getByLabel("Name").fill(name);
      await press(page, "Create");
      // The field of the dialog has the name before anything is sent.
      await dialog(page).waitFor({ state: "detached" });
      await expect
        .poll(() => page.getByLabel("Name", { exact: true }).last().inputValue())
        .toBe(name);
    },
  },
  {
    place: "organization",
    name: "change an organization, and take that back",
    isAlone: true,
    calls: ["PATCH /admin/v1/organizations/{id}"],
    right: "organization.change",
    may: "++--",
    offer: (page) => page.getByLabel("Name", { exact: true }),
    ask: ({ world }) => [
      "PATCH",
      `/organizations/${world.home.organizationId}`,
      { name: "theirs" },
    ],
    async act(walk) {
      const { page, world } = walk;
      const path = `/organizations/${world.away.organizationId}`;
      await page.goto("/settings/organization");
      await choose(page, "Organization", "away");
      const name = page.getByLabel("Name", { exact: true });
      await expect.poll(() => name.inputValue()).toBe("away");
      await name.fill("away, renamed");
      await save(page);
      await shows(walk, path, { name: "away, renamed" });
      await undo(page);
      await shows(walk, path, { name: "away" });
    },
  },
];

const money: readonly Action[] = [
  {
    place: "money",
    name: "add credit to a workspace",
    calls: ["POST /admin/v1/workspaces/{id}/credits"],
    right: "workspace.add_credits",
    may: "++--",
    offer: (page) => button(page, "Add credit"),
    ask: (walk) => ["POST", `${home(walk)}/credits`, { amount: "1.00" }],
    async act(walk) {
      const { page } = walk;
      const note = walk.fresh("note");
      await page.goto(`/money?ws=${walk.world.home.id}`);
      await button(page, "Add credit").click();
      await dialog(page).getByLabel("Amount (USD)").fill("2.50");
      await dialog(page).getByLabel("Note").fill(note);
      await press(page, "Continue");
      await press(page, "Add 2.5 USD");
      await alertWith(page, "The credit is in the ledger.");
      await page.getByRole("link", { name: "Ledger" }).click();
      await page.getByRole("row").filter({ hasText: note }).getByText("2.5").first().waitFor();
    },
  },
  {
    place: "money",
    name: "check whether the ledger adds up",
    calls: ["POST /admin/v1/verify"],
    right: "ledger.verify",
    may: "++--",
    offer: (page) => button(page, "Check now"),
    ask: () => ["POST", "/verify", {}],
    async act({ page }) {
      await page.goto("/money");
      // An earlier check has the same result: the request itself is waited for.
      const asked = page.waitForRequest(
        (one) => one.url().endsWith("/verify") && one.method() === "POST",
      );
      await button(page, "Check now").click();
      await asked;
      await page.getByText(/^No difference in \d+ entries, checked /).waitFor();
    },
  },
];

export const workspaceActions: readonly Action[] = [...workspaces, ...organizations, ...money];
