/**
 * Media that a model does not read is refused in words by which agents go on. Claude Code takes pictures and PDFs out of its conversation
 * if it reads Anthropic's words ("could not process image", "could not process pdf" in 2.1.332). Otherwise the picture stays in its
 * history, and each later call of the session fails.
 */
import { expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { codecs, createRoute, errorCodec, type JsonObject } from "../../src/protocols/index.ts";

/** The message of the refusal by a model that reads text only, for a tool's result with `block`. */
function refusalOf(block: JsonObject, upstream: "chat" | "messages"): unknown {
  const tool_use_id = "toolu_1";
  const messages = [
    { role: "user", content: "Look." },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: tool_use_id, name: "Read", input: {} }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id, content: [block] }] },
  ];
  try {
    createRoute({
      caller: codecs.messages,
      upstream: codecs[upstream],
      body: { model: "m", max_tokens: 100, messages },
      stream: false,
      requestedModel: "m",
      model: "m",
      upstreamModel: "up",
      maxOutputTokens: 100,
      abilities: { inputModalities: ["text"] },
      inputMedia: 1,
      inputEstimate: 1,
      id: "id",
      createdAt: 0,
    });
  } catch (error) {
    if (error instanceof GatewayError) return errorCodec("messages").encodeError(error, "req_1");
    throw error;
  }
  return undefined;
}

const source = (media_type: string) => ({ type: "base64", media_type, data: "AAAA" });

it.each(["chat", "messages"] as const)(
  "ERR-01: a picture that a text model of %s does not read is refused in Anthropic's words",
  (upstream) => {
    const image = refusalOf({ type: "image", source: source("image/png") }, upstream);
    expect(image).toMatchObject({
      error: {
        message: expect.stringMatching(/^Could not process image: .*reads no image/) as string,
        details: { error_code: "unsupported_content", param: "messages.content.image" },
      },
    });
  },
);

it("ERR-01: so is a PDF, on the direct route", () => {
  const document = { type: "document", source: source("application/pdf") };
  expect(refusalOf(document, "messages")).toMatchObject({
    error: { message: expect.stringMatching(/^Could not process PDF: /) as string },
  });
});
