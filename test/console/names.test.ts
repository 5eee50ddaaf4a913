/** Names that change the writing direction do not reorder the sentences of the console around them. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { isolated } from "../../console/src/base/isolated.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => void (world = await startConsoleWorld()));
afterAll(() => world.close());

it("a name in a sentence has no forced direction, and isolating marks around right-to-left text only", () => {
  for (const [name, shown] of [
    ["Product, 5 USD", "Product, 5 USD"],
    ["\u202Efdp.exe", "fdp.exe"],
    ["\u2066apart\u2069", "apart"],
    ["\u2069\u202Eout", "out"],
    ["\u05D0\u05D1 5", "\u2068\u05D0\u05D1 5\u2069"],
    ["a \u200F5", "\u2068a \u200F5\u2069"],
    ["\u{1E900}", "\u2068\u{1E900}\u2069"],
    ["\uFEFFmark \u{1F3F4}", "\uFEFFmark \u{1F3F4}"],
  ] as const)
    expect(isolated(name)).toBe(shown);
});

it("a key whose name keyboards do not type as it is stored is revoked by typing what is shown", async () => {
  const { must, root, home } = world;
  const names = [
    ["\u202Efdp\u200B.exe", "fdp\u200B.exe", "fdp.exe"],
    ["\u05D0\u05D1", "\u2068\u05D0\u05D1\u2069", "\u05D0\u05D1"],
    // Decomposed, as file systems write accents.
    ["cafe\u0301", "cafe\u0301", "caf\u00E9"],
  ] as const;
  const { page, complaints, close } = await world.open("root");
  for (const [name, shown, typed] of names) {
    const { id } = must(await root.call("POST", "/keys", { workspace_id: home.id, name }));
    await page.goto(`/keys/${String(id)}`);
    await page.getByRole("heading", { name: `Key ${shown}`, exact: true }).waitFor();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByLabel(`Type ${shown} to confirm`, { exact: true }).fill(typed);
    await page.getByRole("button", { name: "Revoke key" }).click();
    await page.getByRole("alert").getByText(`${shown} is revoked.`, { exact: true }).waitFor();
  }
  expect(complaints).toEqual([]);
  await close();
});
