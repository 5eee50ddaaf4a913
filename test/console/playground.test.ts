/** The playground in a real browser: a member and an administrator call the sandbox with keys of their own. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shortOrLong, isLong } from "../support/long.ts";
import { seriousFindings } from "./axe.ts";
import type { Visit } from "./browser.ts";
import { pixelsAt, plainPicture } from "./pixels.ts";
import { faultsInAllLooks, playing, script } from "./playing.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let member: Visit;
let page: Page;
beforeAll(async () => {
  world = await startConsoleWorld();
  member = await world.open("mem");
  ({ page } = member);
  play = playing(page);
});
afterAll(() => world.close());

let play: ReturnType<typeof playing>;
const answer = (model: string) => play.answer(model);
const write = (text: string) => play.write(text);
const run = () => play.run();
const open = (query: string) => play.open(query);
const made = async (more: object = {}) =>
  world.must(
    await world.mem.call("POST", "/keys", { workspace_id: world.home.id, name: "mine", ...more }),
  ) as { id: string; key: string };

it("without a key the playground says so, and links to where one is created", async () => {
  await page.goto("/playground");
  await page.getByText("You have no key yet.").waitFor();
  await page.getByRole("link", { name: "Create a key" }).click();
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
  expect(member.complaints).toEqual([]);
});

describe("the playground with a key", () => {
  beforeAll(async () => {
    await made({ name: "other" });
    await made();
  });

  it("gets answers of two models side by side, continues each conversation, and shows the cost of the log", async () => {
    await open("models=sandbox/chat,sandbox/messages");
    await write(script({ reply: "A first answer", reasoning: "Because" }));
    // The text stays when another key is chosen.
    await page.getByRole("combobox", { name: "Key" }).click();
    await page.getByRole("option", { name: "other" }).click();
    await page
      .getByRole("combobox", { name: "Key" })
      .and(page.locator('[value^="other"]'))
      .waitFor();
    await page.getByLabel("You", { exact: true }).press("Control+Enter");
    for (const model of ["sandbox/chat", "sandbox/messages"]) {
      await answer(model).getByText("A first answer").waitFor();
      await answer(model)
        .getByText(/USD, request$/)
        .waitFor();
    }
    await write("And now?");
    await run();
    await answer("sandbox/messages").getByText("You said: And now?").waitFor();
    await answer("sandbox/chat")
      .getByText(/USD, request$/)
      .waitFor();
    await answer("sandbox/messages")
      .getByText(/USD, request$/)
      .waitFor();
    expect(play.lastBody()["messages"]).toHaveLength(3);
    expect((play.lastBody()["messages"] as object[])[1]).toEqual({
      role: "assistant",
      content: "A first answer",
    });
    const { data } = world.must(await world.mem.call("GET", "/requests?view=list"));
    expect(data.map((row: { model: string }) => row.model).sort()).toEqual([
      "sandbox/chat",
      "sandbox/chat",
      "sandbox/messages",
      "sandbox/messages",
    ]);
    const usage = world.must(await world.mem.call("GET", "/usage?granularity=total"));
    await page.getByText("Spent here").getByTitle(`${usage.data[0].cost} USD`).waitFor();
    // The reader's session is never sent, and the page does not contain the key itself.
    for (const request of play.sent) {
      const { authorization, cookie } = await request.allHeaders();
      expect(authorization).toMatch(/^Bearer gw_temp_key_/);
      expect(cookie).toBeUndefined();
    }
    const kept = await page.evaluate<string>(
      "JSON.stringify({ ...localStorage, ...sessionStorage })",
    );
    expect(kept).not.toMatch(/gw_|And now|answer/);
    expect(member.complaints).toEqual([]);
  });

  const spoken = [
    ["chat", "sandbox/generate-content"],
    ["responses", "sandbox/responses"],
    ["messages", "sandbox/chat"],
    ["generate_content", "sandbox/messages"],
  ] as const;
  it.each(shortOrLong<readonly (typeof spoken)[number][]>([spoken[0]], spoken))(
    "speaks %s: streamed, whole, with a picture, with a tool",
    async (protocol, model) => {
      await open(`protocol=${protocol}&models=${model}`);
      await page.getByLabel("System").fill("Be short.");
      await write(script({ reply: `Said in ${protocol}`, reasoning: "Thinking first" }));
      await page.setInputFiles("input[type=file]", await plainPicture("dot.png", 1, "#ff0000"));
      await page.getByText("dot.png").waitFor();
      await run();
      await answer(model).getByText(`Said in ${protocol}`).waitFor();
      expect(play.sent.at(-1)!.postData()).toContain("iVBORw0KGgo");
      expect(play.sent.at(-1)!.postData()).toContain("Be short.");
      await page.getByRole("button", { name: "Tools" }).click();
      await page.getByRole("button", { name: "Example: one tool" }).click();
      await page.getByRole("switch", { name: "Stream" }).uncheck({ force: true });
      await write("What is the weather?");
      await run();
      await answer(model)
        .getByText(/^get_weather\(\{"city":/)
        .waitFor();
      await answer(model)
        .getByText(/USD, request$/)
        .waitFor();
      const { data } = world.must(await world.mem.call("GET", "/requests?view=list&limit=2"));
      expect(data).toMatchObject([
        { protocol, model, stream: false, status: "succeeded" },
        { protocol, model, stream: true, status: "succeeded" },
      ]);
      expect(member.complaints).toEqual([]);
    },
  );

  it.skipIf(!isLong)("can stop a call, and shows its cost until then", async () => {
    await open("models=sandbox/chat");
    await write(script({ reply: "word ".repeat(400), chunk_delay_ms: 100 }));
    await run();
    await answer("sandbox/chat").getByText("word word").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await answer("sandbox/chat").getByText("stopped", { exact: true }).waitFor();
    await answer("sandbox/chat")
      .getByText(/USD, request$/)
      .waitFor();
    const { data } = world.must(await world.mem.call("GET", "/requests?view=list&limit=1"));
    expect(data[0]).toMatchObject({ status: "client_closed" });
  });

  it.skipIf(!isLong)("checks tools and parameters, and reports dropped ones", async () => {
    await open("models=sandbox/messages,sandbox/chat");
    await write("Hello");
    await page.getByRole("button", { name: "Tools" }).click();
    await page.getByLabel("Tools", { exact: true }).fill('[{"name": "a b", "parameters": {}}]');
    await page.getByText('Tool 1: "name" must be').waitFor();
    expect(await play.runButton.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Remove tools" }).click();
    await page.getByRole("button", { name: "Parameters" }).click();
    await page.getByLabel("temperature").fill("3");
    await page.getByText("At most 2.").waitFor();
    await page.getByText("Fix temperature first.").waitFor();
    await page.getByLabel("temperature").fill("0.5");
    await page.getByLabel("seed").fill("7");
    expect(await seriousFindings(page)).toEqual([]);
    await run();
    await answer("sandbox/messages")
      .getByText(/^seed dropped: /)
      .waitFor();
    await answer("sandbox/chat")
      .getByText(/USD, request$/)
      .waitFor();
    expect(await answer("sandbox/chat").getByText("dropped").count()).toBe(0);
    expect(play.lastBody()).toMatchObject({ temperature: 0.5, seed: 7 });
  });

  it.skipIf(!isLong)("shows code for the call, and the copied code works", async () => {
    await page.addInitScript(
      "const write = navigator.clipboard.writeText.bind(navigator.clipboard); navigator.clipboard.writeText = (text) => ((globalThis.copied = text), write(text));",
    );
    await open("models=sandbox/chat");
    await page.getByRole("switch", { name: "Stream" }).uncheck({ force: true });
    await write("It's a 'test'");
    await page.getByRole("button", { name: "Code" }).click();
    const code = page.getByRole("region", { name: "The call as code" });
    await code.getByText("curl http").waitFor();
    await code.getByRole("button", { name: "Copy the code" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate<string>("globalThis.copied");
    const [, url = "", key = "", body = ""] =
      /^curl (\S+) .*?Bearer (gw_live_\w+)".*-d '(.*)'$/s.exec(copied) ?? [];
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const text = body.replaceAll(String.raw`'\''`, "'");
    const said = await (await fetch(url, { method: "POST", headers, body: text })).json();
    expect(said).toMatchObject({
      choices: [{ message: { content: expect.stringContaining("It's a 'test'") as string } }],
    });
    await code.getByText("OpenAI SDK, Python").click();
    await code.getByText("client.chat.completions.create(").waitFor();
  });

  it("shows answers as text, runs no markup, and stays clean in both schemes, wide and narrow", async () => {
    const markup = `<img src=x onerror=alert(1)><script>alert(2)</script>[a](javascript:alert(3))`;
    await open("models=sandbox/chat,sandbox/responses");
    await write(script({ reply: markup }));
    await run();
    await answer("sandbox/responses").getByText(markup).waitFor();
    await answer("sandbox/responses")
      .getByText(/USD, request$/)
      .waitFor();
    expect(await faultsInAllLooks(member)).toEqual([]);
    expect(member.complaints).toEqual([]);
  });

  it.skipIf(!isLong)("sends a call again with its settings, without its prompt", async () => {
    const { data } = world.must(await world.mem.call("GET", "/requests?protocol=messages&limit=1"));
    await page.goto(`/requests/${data[0].id}`);
    await page.getByRole("link", { name: "Send again" }).click();
    await page.getByRole("note").getByText("Its prompt and").waitFor();
    expect(await page.getByRole("combobox", { name: "Protocol" }).inputValue()).toBe("messages");
    await page.getByText(data[0].model, { exact: true }).first().waitFor();
    expect(await page.getByRole("switch", { name: "Stream" }).isChecked()).toBe(
      data[0].stream ?? false,
    );
    await write("Once more");
    await run();
    await answer(data[0].model).getByText("You said: Once more").waitFor();
    await page.goto("/playground?from=req_00000000000000000000000000");
    await page.getByRole("alert").getByText("There is no such request").waitFor();
    expect(member.complaints).toEqual([]);
  });

  it.skipIf(!isLong)("explains a reached cap and a rate limit", async () => {
    const capped = await made({ name: "capped", spend_caps: { total: "0" } });
    const limited = await made({ name: "limited", rate_limits: { requests_per_minute: 1 } });
    const choose = async (name: string) => {
      await open("models=sandbox/chat");
      await page.getByRole("combobox", { name: "Key" }).click();
      await page.getByRole("option", { name }).click();
      await play.runButton.waitFor();
      await write("Hello");
      await run();
    };
    await choose("capped");
    await answer("sandbox/chat").getByText("402 key_total_spend_cap_reached").waitFor();
    await answer("sandbox/chat").getByText("reached", { exact: true }).waitFor();
    await choose("limited");
    await answer("sandbox/chat").getByText("You said: Hello").waitFor();
    await write("Again");
    await run();
    await answer("sandbox/chat").getByText("429 rate_limit_exceeded").waitFor();
    await answer("sandbox/chat")
      .getByText(/Try again in \d+ s\./)
      .waitFor();
    for (const { id } of [capped, limited])
      world.must(await world.mem.call("POST", `/keys/${id}/revoke`));
    expect(member.complaints).toEqual([]);
  });

  it.skipIf(!isLong)("offers each user their own keys; one without models says so", async () => {
    const narrow = world.must(
      await world.ann.call("POST", "/keys", {
        workspace_id: world.home.id,
        name: "anns",
        model_allowlist: ["sandbox/embedding"],
      }),
    ) as { id: string };
    await open("models=sandbox/chat");
    await page.getByRole("combobox", { name: "Key" }).click();
    expect((await page.getByRole("option").allInnerTexts()).toSorted()).toEqual([
      expect.stringContaining("mine"),
      expect.stringContaining("other"),
    ]);
    const { page: hers, complaints, close } = await world.open("ann");
    await hers.goto("/playground");
    await hers.getByText("This key may not call any model for this (Text).").waitFor();
    await hers.getByRole("combobox", { name: "Key" }).click();
    await hers.getByRole("option", { name: "mine" }).waitFor();
    expect(complaints).toEqual([]);
    await close();
    world.must(await world.ann.call("POST", `/keys/${narrow.id}/revoke`));
  });
});

describe("pictures, videos and vectors in the playground", () => {
  const made = (model: string) => play.result(model);
  const wish = async (mode: string, model: string, text: string) => {
    await open(`mode=${mode}&models=sandbox/${model}`);
    await page.locator("textarea").first().fill(text);
  };
  /** Waits until a picture was loaded, which the page's policy must allow. */
  const isShown = (model: string) =>
    expect
      .poll(() =>
        made(`sandbox/${model}`)
          .getByRole("img")
          .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
      )
      .toBeGreaterThan(0);
  const costs = (model: string) =>
    made(`sandbox/${model}`)
      .getByText(/0\.\d+ USD, request$/)
      .waitFor();

  it.each(shortOrLong(["task-image-model-1"], ["image-model-a", "task-image-model-1"]))(
    "are made by %s, and a picture is shown with its cost",
    async (model) => {
      await wish("image", model, "A boat on a lake");
      await page.getByRole("button", { name: "Code" }).click();
      await page
        .getByText(model === "image-model-a" ? "/v1/images/generations" : "/v1/tasks")
        .waitFor();
      await run();
      await isShown(model);
      await costs(model);
      expect(member.complaints).toEqual([]);
    },
  );

  it("are edited only where the mask was painted, by pointer and by keys", async () => {
    await wish("edit", "image-model-a", "Make it red");
    await page.getByText("Add an image.").waitFor();
    await page.setInputFiles("input[type=file]", await plainPicture("blue.png", 256, "#3060c0"));
    const mask = page.getByRole("application");
    await mask.scrollIntoViewIfNeeded();
    const box = (await mask.boundingBox())!;
    const to = (x: number, y: number) =>
      page.mouse.move(box.x + x * box.width, box.y + y * box.height);
    await to(0.1, 0.2);
    await page.mouse.down();
    await to(0.4, 0.2);
    await page.mouse.up();
    // Above the middle, by keys: Space held, then to the right.
    await to(0.5, 0.75);
    await mask.focus();
    await page.keyboard.down("Space");
    for (let step = 0; step < 6; step += 1) await page.keyboard.press("ArrowRight");
    await page.keyboard.up("Space");
    await page.getByRole("application", { name: "Mask, 2 strokes." }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.getByText("Eraser").click();
    await to(0.1, 0.2);
    await page.mouse.down();
    await page.mouse.up();
    await page.getByRole("application", { name: "Mask, 3 strokes." }).waitFor();
    await page.getByRole("button", { name: "Undo stroke" }).click();
    await page.getByRole("application", { name: "Mask, 2 strokes." }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await run();
    await isShown("image-model-a");
    await costs("image-model-a");
    const pixels = await pixelsAt(made("sandbox/image-model-a").getByRole("img"), [
      [26, 51],
      [64, 51],
      [102, 51],
      [130, 192],
      [160, 192],
      [5, 5],
      [64, 100],
      [250, 250],
    ]);
    const blue = [0x30, 0x60, 0xc0, 255];
    const isKept = pixels.map((pixel) => String(pixel) === String(blue));
    expect(isKept).toEqual([false, false, false, false, false, true, true, true]);
    expect(member.complaints).toEqual([]);
  });

  it.skipIf(!isLong)("show a video with its charge, or why it failed", async () => {
    await wish("video", "video-model-v1", script({ task_seconds: 1 }));
    await page.getByRole("button", { name: "Parameters" }).click();
    await page.getByLabel("duration").fill("2");
    await run();
    await made("sandbox/video-model-v1")
      .getByText(/^(queued|running)$/)
      .waitFor();
    const video = made("sandbox/video-model-v1").locator("video");
    await expect
      .poll(() => video.evaluate((one) => (one as unknown as { readyState: number }).readyState))
      .toBeGreaterThan(0);
    await costs("video-model-v1");
    expect(await seriousFindings(page)).toEqual([]);
    await page
      .locator("textarea")
      .first()
      .fill(script({ task_outcome: "failed", error: "no <b>luck</b>" }));
    await run();
    await made("sandbox/video-model-v1").getByText("no <b>luck</b>").waitFor();
    expect(member.complaints).toEqual([]);
  });

  it.skipIf(!isLong)("show the vectors of texts, compared with each other", async () => {
    await wish("embedding", "embedding", "A boat\n\nA lake");
    await run();
    const rows = made("sandbox/embedding").getByRole("row");
    await rows.nth(1).getByText("1. A boat").waitFor();
    await rows.filter({ hasText: "2. A lake" }).getByRole("cell", { name: "1.000" }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(member.complaints).toEqual([]);
  });
});
