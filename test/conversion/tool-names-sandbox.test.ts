// Tools with names that vendors refuse, through a running gateway to simulated vendors that do refuse them.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject, ProtocolName } from "../../src/protocols/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { requestWith } from "./tool-wire.ts";

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.close());

const models: Record<ProtocolName, string> = {
  chat: "sandbox/chat",
  responses: "sandbox/responses",
  messages: "sandbox/messages",
  generate_content: "sandbox/generate-content",
};
const names = Object.keys(models) as ProtocolName[];
const pairs = names.flatMap((from) =>
  names.filter((to) => to !== from).map((to) => [from, to] as const),
);

function post(
  from: ProtocolName,
  { model, ...rest }: JsonObject & { model: string },
  stream: boolean,
): Promise<Response> {
  const body = { model, ...rest };
  switch (from) {
    case "chat":
      return gateway.post("/v1/chat/completions", { ...body, stream });
    case "responses":
      return gateway.post("/v1/responses", { ...body, stream });
    case "messages":
      return gateway.post("/v1/messages", { ...body, stream });
    case "generate_content": {
      const method = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      return gateway.post(`/v1beta/models/${model}:${method}`, rest);
    }
  }
}

describe.each(pairs)("a tool with a refused name, from %s to %s", (from, to) => {
  it.each([true, false])("is called under the caller's name (streamed: %s)", async (stream) => {
    const name = `mcp.server/${"look_at_the_shelf_".repeat(8)}`;
    const body = { ...requestWith[from](name), model: models[to] };
    const answer = await post(from, body, stream);
    const text = await answer.text();
    expect([answer.status, text]).toEqual([200, expect.stringContaining(`"name":"${name}"`)]);
    const reported = stream ? answer.headers.get("x-gw-dropped-params") : text;
    expect(reported).toContain("tools");
    const query = `contains=${encodeURIComponent("look_at_the_shelf")}`;
    const journal = await fetch(`${gateway.sandboxUrl!}/__journal?${query}`);
    const { data } = (await journal.json()) as { data: { body: unknown }[] };
    // The sandbox has checked the pattern. Check here that the name was replaced.
    expect(JSON.stringify(data.at(-1)!.body)).not.toContain(name);
  });
});
