/** The type of an action of the table (actions.ts), and helpers to write one. */
import { expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import type { rights } from "../../../src/admin/index.ts";
import { people, type Walk, type Who } from "./people.ts";
import type { PlaceName, Signs } from "./places.ts";

type Right = keyof typeof rights;

export interface Action {
  /** The place of the action. */
  readonly place: PlaceName;
  /** The name of the action, as a person would say it. */
  readonly name: string;
  /** The API calls that the action makes, named as in the API's document: all of them must be seen, and no others. */
  readonly calls: readonly string[];
  /** Calls that the page makes by itself meanwhile. */
  readonly also?: readonly string[];
  /** The right that decides; absent if every person may do it for themselves. */
  readonly right?: Right;
  readonly may: Signs;
  /** The control that offers it at its place. People without the right find none, or a disabled one. */
  readonly offer: (page: Page) => Locator;
  /** The text that people without the right see instead. */
  readonly instead?: (page: Page) => Locator;
  /** The API call that people without the right try. */
  readonly ask?: (walk: Walk) => readonly [method: string, path: string, body?: object];
  /** True if no other file covers it in any form: it runs in the short form too. */
  readonly isAlone?: true;
  /** Performs it, from its place until its effect is visible on the page and in the API. */
  readonly act: (walk: Walk) => Promise<void>;
}

export const mayDo = (signs: Signs, who: Who): boolean => signs[people.indexOf(who)] === "+";

export const button = (page: Page, name: string): Locator =>
  page.getByRole("button", { name, exact: true });
export const dialog = (page: Page): Locator => page.getByRole("dialog");
/** Presses a button of the open dialog. */
export const press = (page: Page, name: string): Promise<void> =>
  dialog(page).getByRole("button", { name, exact: true }).click();
export const alertWith = (page: Page, text: string): Promise<void> =>
  page.getByRole("alert").filter({ hasText: text }).waitFor();
/** Undoes the last action. */
export async function undo(page: Page): Promise<void> {
  await button(page, "Undo").click();
  await alertWith(page, "Undone");
}
/** Opens a select by its label and takes the option that contains a text. */
export async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole("combobox", { name: label, exact: true }).click();
  await page.getByRole("option", { name: option }).first().click();
}
export async function save(page: Page): Promise<void> {
  await button(page, "Save").click();
  await alertWith(page, "Saved.");
}

/** Waits until the API shows these fields. */
export const shows = (walk: Walk, path: string, fields: object): Promise<void> =>
  expect.poll(async () => (await walk.world.gateway.admin("GET", path)).json).toMatchObject(fields);

/** The workspace of all actions, as a path of the API. */
export const home = ({ world }: Walk): string => `/workspaces/${world.home.id}`;
