// A prompt that a vendor's moderation refuses with 403 is its caller's mistake: other callers' calls stay with the provider.
// docs/routing.md.
import { expect, it } from "vitest";
import { startTestGateway } from "../support/gateway.ts";
import { startRecorder } from "../support/recorder.ts";
import { twoProviders } from "./two-providers.ts";

const refusal = {
  code: "The caller does not have permission to execute the specified operation",
  error:
    "Content violates usage guidelines. Team: 9f5e, API key ID: 3c2b, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO",
};
const answer = {
  id: "c-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello" } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

it("a moderation refusal with 403 reaches the caller without failover, and the next call goes to the same provider", async () => {
  const vendor = await startRecorder((request, response) => {
    const isBad = request.text.includes("bad");
    response.writeHead(isBad ? 403 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(isBad ? refusal : answer));
  });
  const gateway = await startTestGateway({ config: twoProviders({ url: vendor.url }) });
  await gateway.credit("10");
  const ask = (content: string) =>
    gateway.post("/v1/chat/completions", {
      model: "lab/chat:@price",
      messages: [{ role: "user", content }],
    });
  for (let calls = 0; calls < 3; calls += 1) {
    const refused = await ask("bad");
    expect(refused.status).toBe(403);
    const text = await refused.text();
    expect(text).toContain("Content violates usage guidelines.");
    expect(text).not.toMatch(/9f5e|3c2b/);
    expect((await ask("good")).status).toBe(200);
  }
  expect(vendor.requests.map(({ path }) => path.split("/")[1])).toEqual(
    Array.from({ length: 6 }, () => "first"),
  );
  await gateway.close();
  await vendor.close();
});
