/** Converse with a model that refuses to stream with tools: it answers whole, and the caller gets a stream. */
import { expect, it } from "vitest";
import { scripted } from "../sdk/support.ts";
import { fileOf, useCloud } from "./support.ts";

const cloud = useCloud((url) =>
  fileOf(
    [`id: runtime, dialect: bedrock, base_url: ${url}/bedrock/runtime, api_key: sandbox`],
    [
      {
        id: "sandbox/llama",
        upstreamModel: "us.meta.llama4-maverick-17b-instruct-v1:0",
        offers: [{ provider: "runtime", protocol: "converse" }],
      },
    ],
  ),
);

const tools = [{ name: "weather", input_schema: { type: "object" } }];
const script = { reply: "I look.", tool_calls: [{ name: "weather", arguments: { city: "Bonn" } }] };

it.each([
  ["whole, with tools", tools, "Is it wet in Bonn?", "converse"],
  ["as a stream, without tools", undefined, "Is it dry in Bonn?", "converse-stream"],
])("T14: is asked for its answer %s", async (_form, offered, question, action) => {
  const answer = await cloud.gateway.post("/v1/messages", {
    model: "sandbox/llama",
    max_tokens: 100,
    stream: true,
    tools: offered,
    messages: [{ role: "user", content: scripted(question, offered ? script : { reply: "Yes" }) }],
  });
  const text = await answer.text();
  expect(answer.headers.get("content-type")).toContain("text/event-stream");
  expect(text).toContain("event: message_stop");
  expect(text.includes('"type":"tool_use"')).toBe(offered !== undefined);
  const [arrival] = await cloud.world.arrivals(question);
  expect(arrival!.path).toMatch(new RegExp(`/${action}$`));
});
