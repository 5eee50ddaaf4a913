/** Tasks in the console: the gallery, one task in its renderings, canceling, callbacks; and the parts that other people cannot see. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { shortOrLong, isLong } from "../support/long.ts";
import { arrive } from "./arrive.ts";
import { findingsOnTheWay } from "./axe.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let memKey: string;
const markup = `<img src=x onerror=alert(1)>`;
const ids: Record<string, string> = {};

const start = async (key: string, body: object): Promise<string> => {
  const answer = await fetch(`${world.gateway.url}/v1/tasks`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${key}`,
      prefer: "wait=30",
    },
    body: JSON.stringify(body),
  });
  const task = (await answer.json()) as { id: string; error?: object };
  if (task.id === undefined) throw new Error(JSON.stringify(task));
  return task.id;
};
const image = { model: "sandbox/task-image-model-1", prompt: `A boat ${markup}` };

beforeAll(async () => {
  world = await startConsoleWorld();
  memKey = (await world.keyOf(world.mem, world.home.id)).key;
  const bobKey = (await world.keyOf(world.bob, world.away.id)).key;
  ids["failed"] = await world.video(memKey, { prompt: 'A\n#sandbox {"task_outcome":"failed"}' });
  ids["image"] = await start(memKey, image);
  ids["video"] = await world.video(memKey, { webhook_url: "https://127.0.0.1:9/hook" });
  ids["foreign"] = await world.video(bobKey);
});
afterAll(() => world.close());

interface Shown {
  readonly complete?: boolean;
  readonly naturalWidth: number;
  readonly readyState: number;
  readonly currentTime: number;
  matches(selector: string): boolean;
}

/** True if the element has loaded its picture, or its video's metadata. */
const isLoaded = (one: unknown): boolean => {
  const { complete, naturalWidth, readyState } = one as Shown;
  return complete === true ? naturalWidth > 0 : readyState >= 1;
};

it("the gallery shows pictures and playing videos, is navigated by arrow keys, and keeps its filters in the address", async () => {
  const { page, complaints, close, settled } = await world.open("mem");
  await page.goto("/tasks");
  const gallery = page.getByRole("region", { name: "Gallery" });
  const video = gallery.locator("video");
  await video.waitFor();
  await expect.poll(() => video.evaluate(isLoaded)).toBe(true);
  await expect.poll(() => gallery.locator("img").evaluate(isLoaded)).toBe(true);
  for (const shown of [gallery.locator("img"), video])
    expect(await shown.getAttribute("src")).toMatch(/^\/files\/\w/);
  expect(await gallery.getByRole("article").count()).toBe(3);
  await gallery.getByRole("article", { name: /^failed/ }).waitFor();
  const links = gallery.getByRole("link");
  await links.first().focus();
  await page.keyboard.press("ArrowRight");
  expect(await links.nth(1).evaluate((one) => (one as unknown as Shown).matches(":focus"))).toBe(
    true,
  );
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press(" ");
  await expect
    .poll(() => video.evaluate((one) => (one as unknown as Shown).currentTime > 0))
    .toBe(true);
  await page.getByRole("combobox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "image" }).click();
  await page.waitForURL("**/tasks?kind=image");
  await expect.poll(() => gallery.getByRole("article").count()).toBe(1);
  await page.reload();
  await expect.poll(() => gallery.getByRole("article").count()).toBe(1);
  await arrive({ page, settled }, "/tasks?view=table&status=failed&kind=nonsense");
  await page.getByRole("row", { name: /video-model-v1 .* failed/ }).waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
  await arrive({ page, settled }, "/tasks?status=canceled");
  await page.getByText("No tasks match these filters.").waitFor();
  await settled();
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)(
  "a task's page shows its result, parameters without the prompt, four shapes and callback attempts; the callback can be sent again",
  async () => {
    const { page, complaints, close, settled } = await world.open("mem");
    await page.goto(`/tasks/${ids["video"]}`);
    await page
      .getByText(/^succeeded after .* Reserved 0\.\d+ USD, charged 0\.\d+ USD\.$/)
      .waitFor();
    await page
      .getByRole("table", { name: "Parameters" })
      .getByRole("row", { name: "duration_seconds 2" })
      .waitFor();
    const shape = page.locator("pre");
    for (const [name, word] of [
      ["Unified", '"status": "succeeded"'],
      ["Native", '"status": "done"'],
      ["Alias", '"task_status": "SUCCEEDED"'],
      ["Ark", '"video_url"'],
    ] as const) {
      await page.getByText(name, { exact: true }).click();
      await shape.getByText(word).waitFor();
    }
    await page.getByText("https://127.0.0.1:9/hook").waitFor();
    await page.getByRole("button", { name: "Redeliver" }).click();
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByText("The callback is sent again.").waitFor();
    const tries = page.getByRole("table", { name: "Attempts of task.succeeded" });
    await tries.getByRole("row", { name: /^1 / }).waitFor();
    const { json: log } = await world.root.call("GET", "/audit?action=delivery.redeliver");
    expect(log.data).toMatchObject([{ actor: { name: world.mem.email } }]);
    expect(await page.content()).not.toContain("A boat");
    await page.goto(`/tasks/${ids["image"]}`);
    await expect.poll(() => page.locator("main img").evaluate(isLoaded)).toBe(true);
    await settled();
    expect(await page.content()).not.toContain("onerror");
    // Renderings of videos are not offered for a picture.
    expect(await page.getByText("Ark", { exact: true }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await close();
  },
);

it("a running task is cancelled if its vendor confirms; otherwise the page says so; the chosen format stays", async () => {
  const { page, settled, complaints, close } = await world.open("mem");
  const long = { prompt: 'A\n#sandbox {"task_seconds":600}', duration: 2 };
  const begin = async (model: string) => {
    const answer = await fetch(`${world.gateway.url}/v1/tasks`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${memKey}` },
      body: JSON.stringify({ ...long, model }),
    });
    return ((await answer.json()) as { id: string }).id;
  };
  const open = async (id: string) => {
    await arrive({ page, settled }, `/tasks/${id}`);
    await page.getByText(/^running for /).waitFor();
    await page.getByText("Native", { exact: true }).click();
    await page.getByRole("button", { name: "Cancel task" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel task" }).click();
  };
  await open(await begin("sandbox/video-model-v1"));
  await page.getByRole("dialog").getByText("did not confirm that it stops").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true }).click();
  await open(await begin("sandbox/video-model-seconds"));
  await page.getByText(/^canceled after /).waitFor();
  await page.getByRole("button", { name: "Cancel task" }).waitFor({ state: "detached" });
  // The chosen format stays, in the task's new state.
  await page
    .locator("pre")
    .getByText(/"status": "(?!pending)/)
    .waitFor();
  await page.getByText(/^GET \/v1\/videos\//).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)(
  "removed files are replaced by a sentence, not by a broken picture",
  async () => {
    const { page, complaints, close } = await world.open("mem");
    const id = await start(memKey, image);
    await world.gateway.database.query("update files set expires_at = now() where task_id = $1", [
      id,
    ]);
    await page.goto("/tasks");
    await page
      .getByRole("article", { name: /^succeeded/ })
      .first()
      .getByText("Its files are no longer stored.")
      .waitFor();
    expect(complaints).toEqual([]);
    await close();
  },
);

it("a task of another workspace is found neither by address nor in the gallery, and the pages are accessible", async () => {
  const { page, complaints, close, settled } = await world.open("mem");
  await page.goto(`/tasks/${ids["foreign"]}`);
  await page.getByRole("alert").getByText("There is no such task").waitFor();
  expect(await page.locator("main video, main img").count()).toBe(0);
  await arrive({ page, settled }, "/tasks");
  expect(await page.locator(`a[href*="${ids["foreign"]}"]`).count()).toBe(0);
  for (const path of shortOrLong<readonly string[]>([], ["/tasks"]).concat(
    `/tasks/${ids["video"]}`,
  )) {
    await arrive({ page, settled }, path);
    for (const colorScheme of shortOrLong(["dark"] as const, ["light", "dark"] as const)) {
      await page.emulateMedia({ colorScheme });
      await settled();
      expect({ path, found: await findingsOnTheWay(page) }).toEqual({ path, found: [] });
    }
  }
  expect(complaints).toEqual([]);
  await close();
});
