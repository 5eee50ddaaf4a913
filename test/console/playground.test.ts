/** The playground in a real browser: a member and an administrator call the sandbox with keys of their own. */
import type { Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seriousFindings } from "./axe.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let member: Visit;
let page: Page;
beforeAll(async () => {
  world = await startConsoleWorld();
  member = await world.open("mem");
  ({ page } = member);
});
afterAll(() => world.close());

/** Everything this window asked of the endpoints of callers. */
const sent: Request[] = [];
const lastBody = () => JSON.parse(sent.at(-1)!.postData()!) as Record<string, unknown>;

const script = (fields: object) => `Hi\n#sandbox ${JSON.stringify(fields)}`;
const answer = (model: string) => page.getByRole("region", { name: `Answer of ${model}` }).last();
const write = (text: string) => page.getByLabel("You", { exact: true }).fill(text);
const run = () => page.getByRole("button", { name: "Run", exact: true }).click();
const open = async (query: string) => {
  await page.goto(`/playground?${query}`);
  await page.getByRole("button", { name: "Run", exact: true }).waitFor();
};
const made = async (more: object = {}) =>
  world.must(
    await world.mem.call("POST", "/keys", { workspace_id: world.home.id, name: "mine", ...more }),
  ) as { id: string; key: string };

it("without a key it says so, and leads to where one is made", async () => {
  page.on("request", (request) => {
    if (
      /\/v1(?:beta)?\//.test(request.url()) &&
      request.method() === "POST" &&
      !request.url().includes("/admin/")
    )
      sent.push(request);
  });
  await page.goto("/playground");
  await page.getByText("You have no key yet.").waitFor();
  await page.getByRole("link", { name: "Make a key" }).click();
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
  expect(member.complaints).toEqual([]);
});

describe("with a key", () => {
  beforeAll(() => made());

  it("two models answer side by side, go on with what each said, and each cost is the log's", async () => {
    await open("models=sandbox/chat,sandbox/messages");
    await write(script({ reply: "A first answer", reasoning: "Because" }));
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
    expect(lastBody()["messages"]).toHaveLength(3);
    expect((lastBody()["messages"] as object[])[1]).toEqual({
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
    // The reader's session never goes along, and the key itself is not in the page.
    for (const request of sent) {
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

  it.each([
    ["chat", "sandbox/generate-content"],
    ["responses", "sandbox/responses"],
    ["messages", "sandbox/chat"],
    ["generate_content", "sandbox/messages"],
  ] as const)(
    "%s is spoken: streamed, whole, with a picture, with a tool",
    async (protocol, model) => {
      await open(`protocol=${protocol}&models=${model}`);
      await page.getByLabel("System").fill("Be short.");
      await write(script({ reply: `Said in ${protocol}`, reasoning: "Thinking first" }));
      await page.setInputFiles("input[type=file]", {
        name: "dot.png",
        mimeType: "image/png",
        buffer: Buffer.from(
          "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
          "base64",
        ),
      });
      await page.getByText("dot.png").waitFor();
      await run();
      await answer(model).getByText(`Said in ${protocol}`).waitFor();
      expect(sent.at(-1)!.postData()).toContain("iVBORw0KGgo");
      expect(sent.at(-1)!.postData()).toContain("Be short.");
      await page.getByRole("button", { name: "Tools" }).click();
      await page.getByRole("button", { name: "Example: one tool" }).click();
      await page.getByLabel("Stream").uncheck({ force: true });
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

  it("a call can be stopped, and says what it cost until then", async () => {
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

  it("tools and parameters are checked before they are sent, and what is dropped is said", async () => {
    await open("models=sandbox/messages,sandbox/chat");
    await write("Hello");
    await page.getByRole("button", { name: "Tools" }).click();
    await page.getByLabel("Tools", { exact: true }).fill('[{"name": "a b", "parameters": {}}]');
    await page.getByText('Tool 1: "name" must be').waitFor();
    expect(await page.getByRole("button", { name: "Run", exact: true }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Remove tools" }).click();
    await page.getByRole("button", { name: "Parameters" }).click();
    await page.getByLabel("temperature").fill("3");
    await page.getByText("At most 2.").waitFor();
    await page.getByText("Mend temperature first.").waitFor();
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
    expect(lastBody()).toMatchObject({ temperature: 0.5, seed: 7 });
  });

  it("the code is the call: what is copied answers", async () => {
    await page.addInitScript(
      "const write = navigator.clipboard.writeText.bind(navigator.clipboard); navigator.clipboard.writeText = (text) => ((globalThis.copied = text), write(text));",
    );
    await open("models=sandbox/chat");
    await page.getByLabel("Stream").uncheck({ force: true });
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

  it("answers are text: markup in one runs nothing, and the page stays clean in both schemes, wide and narrow", async () => {
    const markup = `<img src=x onerror=alert(1)><script>alert(2)</script>[a](javascript:alert(3))`;
    await open("models=sandbox/chat,sandbox/responses");
    await write(script({ reply: markup }));
    await run();
    await answer("sandbox/responses").getByText(markup).waitFor();
    await answer("sandbox/responses")
      .getByText(/USD, request$/)
      .waitFor();
    for (const [scheme, width] of [
      ["light", 1280],
      ["dark", 1280],
      ["light", 390],
    ] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 800 });
      expect({ scheme, width, found: await seriousFindings(page) }).toEqual({
        scheme,
        width,
        found: [],
      });
      const beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate<number>(beyond)).toBe(0);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: "light" });
    expect(member.complaints).toEqual([]);
  });

  it("a reached cap and a limit are said with their reasons", async () => {
    const capped = await made({ name: "capped", spend_caps: { total: "0" } });
    const limited = await made({ name: "limited", rate_limits: { requests_per_minute: 1 } });
    const choose = async (name: string) => {
      await open("models=sandbox/chat");
      await page.getByRole("combobox", { name: "Key" }).click();
      await page.getByRole("option", { name }).click();
      await page.getByRole("button", { name: "Run", exact: true }).waitFor();
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

  it("a member has own keys to choose from, an administrator those of the workspace, and a key without models says so", async () => {
    const narrow = world.must(
      await world.ann.call("POST", "/keys", {
        workspace_id: world.home.id,
        name: "anns",
        model_allowlist: ["sandbox/embedding"],
      }),
    ) as { id: string };
    await open("models=sandbox/chat");
    await page.getByRole("combobox", { name: "Key" }).click();
    expect(await page.getByRole("option").allInnerTexts()).toEqual([
      expect.stringContaining("mine"),
    ]);
    const { page: hers, complaints, context } = await world.open("ann");
    await hers.goto("/playground");
    await hers.getByText("This key may call no model for this (Text).").waitFor();
    await hers.getByRole("combobox", { name: "Key" }).click();
    await hers.getByRole("option", { name: "mine" }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
    world.must(await world.ann.call("POST", `/keys/${narrow.id}/revoke`));
  });
});
