/** Opening a page of the console. */
import { isLong } from "../support/long.ts";
import type { Visit } from "./browser.ts";

/**
 * Opens a page and waits until it is drawn: with a new load, or in the short form by a navigation within the console, which saves
 * the start.
 */
export async function arrive(
  { page, settled }: Pick<Visit, "page" | "settled">,
  address: string,
): Promise<void> {
  const isInside = page.url().startsWith("http") && address !== "/sign-in";
  if (isLong || !isInside) await page.goto(address);
  else
    await page.evaluate(
      `history.pushState({}, "", ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent("popstate"))`,
    );
  await settled();
  await page.getByRole("heading", { level: 1 }).waitFor();
  await settled();
}
