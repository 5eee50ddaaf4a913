/**
 * Requests that vendors refuse although they fit the vendors' schemas, and their converted form. CONV-211, CONV-310, CONV-506,
 * CONV-507, CONV-604, RESP-33; trap T25.
 */
import { describe, it } from "vitest";
import { conversions, showCase, titled, type Body, type Case } from "./world.ts";

const world = conversions();

const config = (generationConfig: Body): Body => ({ generationConfig });

describe("a request that OpenAI refuses", () => {
  it.each(
    titled([
      {
        title:
          "CONV-310: JSON output gets the words for it in the input, since instructions do not count",
        from: "chat",
        to: "responses",
        body: {
          messages: [
            { role: "system", content: "Answer in JSON." },
            { role: "user", content: "A list" },
          ],
          response_format: { type: "json_object" },
        },
        up: {
          instructions: "Answer in JSON.",
          input: [
            { role: "user", content: [{ text: "A list" }] },
            { role: "system", content: [{ type: "input_text", text: "Answer in JSON." }] },
          ],
        },
        reported: ["messages"],
      },
      {
        title: "CONV-310: the added words follow the first turn that is sent",
        from: "chat",
        to: "responses",
        body: {
          messages: [
            { role: "tool", tool_call_id: "c1", content: "of no call" },
            { role: "user", content: "A list" },
          ],
          response_format: { type: "json_object" },
        },
        up: {
          input: [
            { role: "user", content: [{ text: "A list" }] },
            { role: "system", content: [{ type: "input_text", text: "Answer in JSON." }] },
          ],
        },
        absent: ["instructions"],
        reported: ["messages.tool_call_id", "messages"],
      },
      {
        title: "CONV-310: the words are added to a conversation with only instructions too",
        from: "chat",
        to: "responses",
        body: {
          messages: [{ role: "system", content: "Answer in JSON." }],
          response_format: { type: "json_object" },
        },
        up: {
          input: [{ role: "user" }, { role: "system", content: [{ text: "Answer in JSON." }] }],
        },
        reported: ["messages"],
      },
      {
        title: "CONV-211: JSON output that no words ask for gets them in the system prompt",
        from: "generate_content",
        to: "chat",
        body: {
          ...config({ responseMimeType: "application/json" }),
          systemInstruction: { parts: [{ text: "Be brief." }] },
        },
        up: {
          response_format: { type: "json_object" },
          messages: [{ role: "system", content: "Be brief.\n\nAnswer in JSON." }, { role: "user" }],
        },
        reported: ["contents"],
      },
      {
        title:
          "CONV-211: the words stay if a later turn says JSON: without them the prompt cache misses",
        from: "generate_content",
        to: "chat",
        body: {
          ...config({ responseMimeType: "application/json" }),
          contents: [
            { role: "user", parts: [{ text: "A list" }] },
            { role: "model", parts: [{ text: '{"is":"json"}' }] },
            { role: "user", parts: [{ text: "More JSON" }] },
          ],
        },
        up: { messages: [{ role: "system", content: "Answer in JSON." }, {}, {}, {}] },
        reported: ["contents"],
      },
      {
        title: "RESP-33: metadata is dropped if the answer is not stored",
        from: "responses",
        to: "chat",
        body: { metadata: { a: "1" }, store: false },
        up: { store: false },
        absent: ["metadata"],
        reported: ["metadata"],
      },
      {
        title: "RESP-33: metadata is sent if the answer is stored",
        from: "responses",
        to: "chat",
        body: { metadata: { a: "1" }, store: true },
        up: { store: true, metadata: { a: "1" } },
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

describe("a request that Google refuses", () => {
  it.each(
    titled([
      {
        title: "CONV-506: a stop sequence of white space is sent, and an empty one is dropped",
        from: "chat",
        to: "generate_content",
        body: { stop: ["\n", ""] },
        up: config({ stopSequences: ["\n"] }),
        absent: ["generationConfig.stopSequences.1"],
        reported: ["stop"],
      },
      {
        title: "CONV-507: the largest seed of 32 bits is sent",
        from: "chat",
        to: "generate_content",
        body: { seed: 2_147_483_647 },
        up: config({ seed: 2_147_483_647 }),
      },
      ...[4_294_967_295, -4_294_967_295].map((seed): Case => ({
        title: `CONV-507: the seed ${seed}, which Google refuses, is sent as a remainder`,
        from: "chat",
        to: "generate_content",
        body: { seed },
        up: config({ seed: 2_147_483_647 }),
        reported: ["seed"],
      })),
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

describe("a request that every vendor refuses", () => {
  it.each(
    titled([
      ...(["", " \n"] as const).map((error): Case => ({
        title: "CONV-604 T25: an error of a tool that says nothing gets a placeholder",
        from: "generate_content",
        to: "messages",
        body: {
          contents: [
            { role: "user", parts: [{ text: "Where?" }] },
            { role: "model", parts: [{ functionCall: { id: "c1", name: "look", args: {} } }] },
            {
              role: "user",
              parts: [{ functionResponse: { id: "c1", name: "look", response: { error } } }],
            },
          ],
        },
        up: {
          messages: [
            { role: "user" },
            { role: "assistant" },
            {
              role: "user",
              content: [{ is_error: true, content: [{ type: "text", text: "(no content)" }] }],
            },
          ],
        },
      })),
      {
        title: "CONV-604 T25: an empty refusal becomes a placeholder",
        from: "chat",
        to: "messages",
        body: {
          messages: [
            { role: "user", content: "Where?" },
            { role: "assistant", content: [{ type: "refusal", refusal: "" }] },
            { role: "user", content: "There?" },
          ],
        },
        up: {
          messages: [
            { role: "user" },
            { role: "assistant", content: [{ type: "text", text: "(no content)" }] },
            { role: "user", content: [{ type: "text", text: "There?" }] },
          ],
        },
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});
