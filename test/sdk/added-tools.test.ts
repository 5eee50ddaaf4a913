/**
 * The tool runner of `@anthropic-ai/sdk` may gain and lose tools while it runs; it sends these changes as turns of the
 * conversation. T33.
 */
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { expect, it } from "vitest";
import { scripted, useWorld } from "./support.ts";

const world = useWorld();

it.each(["sandbox/messages", "sandbox/chat", "sandbox/responses", "sandbox/generate-content"])(
  "T33: a tool that the runner adds is called, and one that it removes is no longer offered (%s)",
  async (model) => {
    const asked = `Open the shed of ${model}.`;
    const ran: string[] = [];
    const tool = (name: string, run: () => void) =>
      betaTool({
        name,
        description: `To ${name}`,
        inputSchema: { type: "object", properties: {} },
        run() {
          ran.push(name);
          run();
          return `${name} is done`;
        },
      });
    const call = (name: string) => ({ tool_calls: [{ name, arguments: {} }] });
    const script = {
      ...call("find_key"),
      next: { ...call("open_shed"), next: { reply: "Open." } },
    };
    const client = new Anthropic({ apiKey: world.key, baseURL: world.url, maxRetries: 0 });
    const runner = client.beta.messages.toolRunner({
      model,
      max_tokens: 1000,
      messages: [{ role: "user", content: scripted(asked, script) }],
      tools: [
        tool("find_key", () => {
          runner.addTools(tool("open_shed", () => runner.removeTools("find_key")));
        }),
      ],
    });
    const { content } = await runner.runUntilDone();
    expect(content).toMatchObject([{ type: "text", text: "Open." }]);
    expect(ran).toEqual(["find_key", "open_shed"]);
    const offered = (await world.arrivals(asked)).map(({ body }) =>
      ["find_key", "open_shed"].filter((name) => JSON.stringify(body).includes(`"To ${name}"`)),
    );
    const isOwn = model === "sandbox/messages";
    expect(offered.at(-1)).toEqual(isOwn ? ["find_key", "open_shed"] : ["open_shed"]);
  },
);
