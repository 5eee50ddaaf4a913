/** What an action of the table is (actions.ts), and short ways to write one. */
import { expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import type { rights } from "../../../src/admin/index.ts";
import { people, type Walk, type Who } from "./people.ts";
import type { PlaceName, Signs } from "./places.ts";

type Right = keyof typeof rights;

export interface Action {
  /** Where it is. */
  readonly place: PlaceName;
  /** What somebody does there. */
  readonly name: string;
  /** What it asks of the gateway, as the API's document has it: each is seen when it is done, and no other. */
  readonly calls: readonly string[];
  /** What its page asks by itself meanwhile. */
  readonly also?: readonly string[];
  /** The right that decides; absent: it is everybody's own affair. */
  readonly right?: Right;
  readonly may: Signs;
  /** What offers it at its place. Whoever may not finds none, or one that is disabled. */
  readonly offer: (page: Page) => Locator;
  /** Of who may not: what they read instead. */
  readonly instead?: (page: Page) => Locator;
  /** Asked of the API by who may not. */
  readonly ask?: (walk: Walk) => readonly [method: string, path: string, body?: object];
  /** No other file does it in any form: it is done in the short form too. */
  readonly isAlone?: true;
  /** Does it, from its place to where its effect is seen on the page and in the API. */
  readonly act: (walk: Walk) => Promise<void>;
}

export const mayDo = (signs: Signs, who: Who): boolean => signs[people.indexOf(who)] === "+";

export const button = (page: Page, name: string): Locator =>
  page.getByRole("button", { name, exact: true });
export const dialog = (page: Page): Locator => page.getByRole("dialog");
/** Presses a button of the dialog that is open. */
export const press = (page: Page, name: string): Promise<void> =>
  dialog(page).getByRole("button", { name, exact: true }).click();
export const said = (page: Page, text: string): Promise<void> =>
  page.getByRole("alert").filter({ hasText: text }).waitFor();
/** Takes back what was just done. */
export async function undo(page: Page): Promise<void> {
  await button(page, "Undo").click();
  await said(page, "Undone");
}
/** Opens a choice by its label and takes what begins with a text. */
export async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole("combobox", { name: label, exact: true }).click();
  await page.getByRole("option", { name: option }).first().click();
}
export async function save(page: Page): Promise<void> {
  await button(page, "Save").click();
  await said(page, "Saved.");
}

/** Until the API shows a field as it is meant to be. */
export const shows = (walk: Walk, path: string, fields: object): Promise<void> =>
  expect.poll(async () => (await walk.world.gateway.admin("GET", path)).json).toMatchObject(fields);

/** The workspace that everything is done in, as a path of the API. */
export const home = ({ world }: Walk): string => `/workspaces/${world.home.id}`;
