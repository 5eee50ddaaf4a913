/** The openai-like vendor's chat completions, called by the official SDK over a real socket. */
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { scripted, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const model = "sandbox-large";
const client = () =>
  new OpenAI({ apiKey: "sandbox", baseURL: `${sandbox.url}/openai/v1`, maxRetries: 0 });
const ask = (content: string) => ({ model, messages: [{ role: "user" as const, content }] });

describe("chat completions", () => {
  it("answers a whole body with a dated model name", async () => {
    const answer = await client().chat.completions.create(ask(scripted({ reply: "Hi there" })));
    expect(answer.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { role: "assistant", content: "Hi there", refusal: null },
    });
    expect(answer.model).toBe("sandbox-large-2026-10-01");
  });

  it("streams the same text in pieces, usage only where asked", async () => {
    const body = ask(scripted({ reply: "Hi there", chunk_chars: 3 }));
    const stream = await client().chat.completions.create({ ...body, stream: true });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta)).toEqual([
      { role: "assistant", content: "", refusal: null },
      { content: "Hi " },
      { content: "the" },
      { content: "re" },
      {},
    ]);
    expect(chunks.every((chunk) => !("usage" in chunk))).toBe(true);
  });
});
