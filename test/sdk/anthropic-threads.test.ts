/**
 * Message threads of `@anthropic-ai/sdk`, which send only the new messages. The gateway keeps no conversation, so each upstream
 * must get the whole of it. TXT-05, CONV-601.
 */
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { describe, expect, it } from "vitest";
import { failureOf, scripted, useWorld } from "./support.ts";

const models = [
  "sandbox/messages",
  "sandbox/chat",
  "sandbox/responses",
  "sandbox/generate-content",
];

describe("a thread of messages", () => {
  const world = useWorld();
  const connect = (): Anthropic =>
    new Anthropic({ apiKey: world.key, baseURL: world.url, maxRetries: 0 });
  /** The body of the last call with this text that reached an upstream. */
  const lastSent = async (text: string): Promise<string> =>
    JSON.stringify((await world.arrivals(text)).at(-1)!.body);

  it.each(models)(
    "TXT-05: sends the whole conversation upstream in the tool runner's next turn (%s)",
    async (model) => {
      const asked = `Which key opens the shed of ${model}?`;
      const script = {
        tool_calls: [{ name: "look_up", arguments: { thing: "shed" } }],
        next: { reply: "The brass one." },
      };
      const ran: unknown[] = [];
      const runner = connect().beta.messages.toolRunner({
        model,
        max_tokens: 1000,
        system: "You keep the keys.",
        messages: [{ role: "user", content: scripted(asked, script) }],
        tools: [
          betaTool({
            name: "look_up",
            description: "Looks up a thing",
            inputSchema: { type: "object", properties: { thing: { type: "string" } } },
            run: (input) => {
              ran.push(input);
              return "brass, on the third hook";
            },
          }),
        ],
      });
      const message = await runner.runUntilDone();
      expect(message.content).toMatchObject([{ type: "text", text: "The brass one." }]);
      expect(ran).toEqual([{ thing: "shed" }]);
      const sent = await lastSent(asked);
      for (const part of ["You keep the keys.", asked, "look_up", "brass, on the third hook"])
        expect(sent).toContain(part);
    },
  );

  it.each(models)(
    "TXT-05: sends the whole conversation upstream with its second question (%s)",
    async (model) => {
      const first = `My boat at ${model} is called Wren.`;
      const second = `What is my boat at ${model} called?`;
      const thread = connect().beta.messages.thread({
        model,
        max_tokens: 1000,
        system: "You know boats.",
        unsupportedRequestBehavior: "continue_unthreaded",
      });
      await thread.send({ role: "user", content: scripted(first, { reply: "A fine name." }) });
      const answer = await thread.send({
        role: "user",
        content: scripted(second, { reply: "Wren." }),
      });
      expect(answer.content).toMatchObject([{ type: "text", text: "Wren." }]);
      const sent = await lastSent(second);
      for (const part of ["You know boats.", first, "A fine name.", second])
        expect(sent).toContain(part);
    },
  );

  it.each(models)(
    "is refused before any upstream is called, unless it allows `continue_unthreaded` (%s)",
    async (model) => {
      const words = `Nobody hears this at ${model}.`;
      const thread = connect().beta.messages.thread({ model, max_tokens: 1000 });
      const error = await failureOf(thread.send({ role: "user", content: words }));
      expect(error).toBeInstanceOf(Anthropic.ThreadUnsupportedRequestError);
      expect(error).toMatchObject({
        status: 400,
        error: {
          type: "error",
          error: {
            type: "invalid_request_error",
            details: {
              error_code: "thread_unsupported_request",
              unsupported: ["thread"],
              param: "thread",
            },
          },
        },
      });
      expect(await world.arrivals(words)).toEqual([]);
    },
  );

  it("TXT-05: sends the whole conversation upstream when it streams too", async () => {
    const words = "My streaming boat is called Tern.";
    const thread = connect().beta.messages.thread({
      model: "sandbox/chat",
      max_tokens: 1000,
      unsupportedRequestBehavior: "continue_unthreaded",
    });
    await thread
      .stream({ role: "user", content: scripted(words, { reply: "Good." }) })
      .finalMessage();
    const asked = "And what is it called, streaming?";
    const answer = await thread
      .stream({ role: "user", content: scripted(asked, { reply: "Tern." }) })
      .finalMessage();
    expect(answer.content).toMatchObject([{ type: "text", text: "Tern." }]);
    expect(await lastSent(asked)).toContain(words);
  });

  it("is refused too if a request continues a thread by itself", async () => {
    const thread = { type: "continue" as const, previous_message_id: "msg_1" };
    const asked = connect().beta.messages.create({
      model: "sandbox/chat",
      max_tokens: 100,
      messages: [{ role: "user", content: "And then?" }],
      thread,
    });
    expect(await failureOf(asked)).toBeInstanceOf(Anthropic.ThreadUnsupportedRequestError);
  });
});
