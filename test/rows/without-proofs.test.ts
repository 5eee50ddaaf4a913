/**
 * Earlier reasoning that only its own vendor or account can verify. If every provider of the model refuses it, one is asked again without it.
 * T43; docs/routing.md.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { json, type Answer, type Recorded } from "../support/recorder.ts";
import { answerText, protocols, type Protocol } from "./protocols.ts";
import {
  answering,
  costAtFirstNano,
  modelRow,
  protocolOf,
  readEvents,
  startWorld,
  stream,
  type World,
} from "./world.ts";

const [chat, responses, messages, generateContent] = protocols as [
  Protocol,
  Protocol,
  Protocol,
  Protocol,
];
const proof = "gAAAAAB-proof-of-another-account";

let world: World;
beforeAll(async () => {
  world = await startWorld({
    models: [
      modelRow("acme/sole", responses, { providers: ["first"] }),
      modelRow("acme/with-fallback", responses, {
        extra: "fallbacks: [acme/other]",
        providers: ["first"],
      }),
      modelRow("acme/other", responses, { providers: ["second"] }),
    ].join("\n"),
  });
});
afterAll(() => world.close());

/** The refusal of each vendor for a proof that it cannot verify. */
const refusals: Readonly<Record<Protocol["name"], object>> = {
  chat: {
    error: {
      type: "bad",
      message: "messages.1.content.0: Invalid `signature` in `thinking` block",
    },
  },
  responses: {
    error: {
      message: "The encrypted content gAAA...ount could not be verified.",
      type: "invalid_request_error",
      param: null,
      code: "invalid_encrypted_content",
    },
  },
  messages: {
    type: "error",
    error: {
      type: "invalid_request_error",
      message: "messages.1.content.0: Invalid `signature` in `thinking` block",
    },
  },
  generate_content: {
    error: { code: 400, message: "Corrupted thought signature.", status: "INVALID_ARGUMENT" },
  },
};

/** Refuses a request with the proof, and answers any other. */
const refusingProof: Answer = (request, response) =>
  request.text.includes(proof) ? refusing(request, response) : answering(request, response);
const refusing: Answer = (request, response) =>
  json(refusals[protocolOf(request.path).name], 400)(request, response);

const called = { name: "look", input: { at: "it" } };
const text = JSON.stringify(called.input);
/** A session with a call, as each protocol's callers send it back. */
const sessions: Readonly<Record<Protocol["name"], object>> = {
  chat: {
    messages: [
      { role: "user", content: "Where is it?" },
      {
        role: "assistant",
        content: null,
        reasoning: "Hm.",
        reasoning_details: [
          { type: "reasoning.text", text: "Hm.", signature: proof, index: 0 },
          { type: "reasoning.encrypted", data: proof, index: 1 },
        ],
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: called.name, arguments: text },
            extra_content: { google: { thought_signature: proof } },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "There." },
    ],
  },
  responses: {
    store: false,
    include: ["reasoning.encrypted_content"],
    input: [
      { type: "message", role: "user", content: "Where is it?" },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: proof },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: called.name, arguments: text },
      { type: "function_call_output", call_id: "call_1", output: "There." },
    ],
  },
  messages: {
    messages: [
      { role: "user", content: "Where is it?" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: proof },
          { type: "redacted_thinking", data: proof },
          { type: "tool_use", id: "toolu_1", ...called },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "Here." }],
      },
    ],
    max_tokens: 4000,
    thinking: { type: "enabled", budget_tokens: 2000 },
  },
  generate_content: {
    contents: [
      { role: "user", parts: [{ text: "Where is it?" }] },
      {
        role: "model",
        parts: [
          { text: "Hm.", thought: true },
          {
            functionCall: { name: called.name, args: called.input },
            thoughtSignature: proof,
          },
          { text: "", thoughtSignature: proof },
        ],
      },
      { role: "user", parts: [{ functionResponse: { name: called.name, response: { at: 1 } } }] },
    ],
  },
};

/** The last request in place of the session's own, and the names that the caller is told. */
const sent: Readonly<Record<Protocol["name"], { has: object; dropped: string[] }>> = {
  chat: {
    has: {
      messages: [
        { role: "user", content: "Where is it?" },
        {
          role: "assistant",
          content: null,
          reasoning: "Hm.",
          tool_calls: [
            { id: "call_1", type: "function", function: { name: called.name, arguments: text } },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: "There." },
      ],
    },
    dropped: ["messages.reasoning_details", "messages.tool_calls.extra_content"],
  },
  responses: {
    has: {
      input: [
        { type: "message", role: "user", content: "Where is it?" },
        { type: "function_call", call_id: "call_1", name: called.name, arguments: text },
        { type: "function_call_output", call_id: "call_1", output: "There." },
      ],
    },
    dropped: ["input.reasoning"],
  },
  messages: {
    has: {
      messages: [
        { role: "user", content: "Where is it?" },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", ...called }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "Here." }],
        },
      ],
      max_tokens: 4000,
    },
    dropped: ["messages.content.thinking", "thinking"],
  },
  generate_content: {
    has: {
      contents: [
        { role: "user", parts: [{ text: "Where is it?" }] },
        {
          role: "model",
          parts: [
            { text: "Hm.", thought: true },
            {
              functionCall: { name: called.name, args: called.input },
              thoughtSignature: "skip_thought_signature_validator",
            },
          ],
        },
        { role: "user", parts: [{ functionResponse: { name: called.name, response: { at: 1 } } }] },
      ],
    },
    dropped: ["contents.parts.thoughtSignature"],
  },
};

/** The requests that the upstreams got, in order of the providers. */
const requests = (): Recorded[] => [...world.first.requests, ...world.second.requests];
/** The cheaper provider is asked first. */
const cheapest = (protocol: Protocol): string => `${protocol.model}:@price`;
const outcomes = async (answer: Response) => {
  const { attempts } = await world.row(answer);
  return attempts.map(({ provider, status, outcome }) => [provider, status, outcome]);
};

describe.each([chat, responses, messages, generateContent])("$name", (protocol) => {
  it("T43: the first provider answers without reasoning that all refuse, in an attempt of its own", async () => {
    world.answer(refusingProof);
    const before = await world.charged();
    const answer = await world.call(protocol, {
      model: cheapest(protocol),
      extra: sessions[protocol.name],
    });
    const body = (await answer.json()) as { gw?: { droppedParams?: string[] } };
    expect(answer.status).toBe(200);
    const { dropped } = await world.row(answer);
    expect(await outcomes(answer)).toEqual([
      ["first", 400, "upstream_rejected"],
      ["second", 400, "upstream_rejected"],
      ["first", 200, "ok"],
    ]);
    const told = sent[protocol.name];
    expect(world.first.requests.at(-1)!.body).toMatchObject(told.has);
    expect(world.first.requests.at(-1)!.text).not.toContain(proof);
    for (const name of told.dropped) {
      expect(body.gw?.droppedParams).toContain(name);
      expect(dropped.join(" ")).toContain(name);
    }
    expect((await world.charged()) - before).toBe(costAtFirstNano);
  });

  it("T43: a stream without that reasoning names it in its header", async () => {
    world.answer(refusingProof);
    const answer = await world.call(protocol, {
      model: cheapest(protocol),
      stream: true,
      extra: sessions[protocol.name],
    });
    expect(answer.status).toBe(200);
    await answer.text();
    for (const name of sent[protocol.name].dropped)
      expect(answer.headers.get("x-gw-dropped-params")).toContain(name);
    expect(await outcomes(answer)).toHaveLength(3);
  });

  it("T43: the reasoning reaches a provider that accepts it", async () => {
    world.answer(answering);
    world.first.answer(refusingProof);
    const answer = await world.call(protocol, {
      model: cheapest(protocol),
      extra: sessions[protocol.name],
    });
    expect(answer.status).toBe(200);
    expect(await outcomes(answer)).toEqual([
      ["first", 400, "upstream_rejected"],
      ["second", 200, "ok"],
    ]);
    expect(world.second.requests[0]!.text).toContain(proof);
  });

  it("T43: a refusal of the request without it is final, and the vendor's own", async () => {
    world.answer(refusing);
    const answer = await world.call(protocol, {
      model: cheapest(protocol),
      extra: sessions[protocol.name],
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject(refusals[protocol.name]);
    expect(requests()).toHaveLength(3);
  });

  it("T43: a request without proofs is not repeated", async () => {
    world.answer(refusing);
    const answer = await world.call(protocol);
    expect(answer.status).toBe(400);
    expect(requests()).toHaveLength(2);
  });
});

describe("a model with one provider", () => {
  it("T43: is asked twice, and the call is charged once", async () => {
    world.answer(refusingProof);
    const before = await world.charged();
    const answer = await world.call(responses, {
      model: "acme/sole",
      extra: sessions.responses,
    });
    expect(answer.status).toBe(200);
    expect(await outcomes(answer)).toEqual([
      ["first", 400, "upstream_rejected"],
      ["first", 200, "ok"],
    ]);
    expect((await world.charged()) - before).toBe(costAtFirstNano);
  });

  it("T43: answers without it also if it refuses it after a failure", async () => {
    world.answer(refusingProof);
    const answers = [json({ error: { message: "down" } }, 503)];
    world.first.answer((...asked) => (answers.pop() ?? refusingProof)(...asked));
    const answer = await world.call(responses, {
      model: "acme/sole",
      extra: sessions.responses,
    });
    expect(answer.status).toBe(200);
    expect(await outcomes(answer)).toEqual([
      ["first", 503, "no_provider_available"],
      ["first", 400, "upstream_rejected"],
      ["first", 200, "ok"],
    ]);
  });

  it("T43: keeps a compaction, which is the conversation", async () => {
    world.answer(refusingProof);
    const compaction = { type: "compaction", id: "cmp_1", encrypted_content: "the-conversation" };
    const { input } = sessions.responses as { input: object[] };
    const answer = await world.call(responses, {
      model: "acme/sole",
      extra: { input: [compaction, ...input] },
    });
    expect(answer.status).toBe(200);
    expect(world.first.requests.at(-1)!.body).toMatchObject({
      input: [compaction, {}, {}, {}],
    });
  });

  it("T43: answers without the reasoning before a fallback is asked", async () => {
    world.answer(refusingProof);
    const answer = await world.call(responses, {
      model: "acme/with-fallback",
      extra: sessions.responses,
    });
    expect(answer.status).toBe(200);
    expect(world.second.requests).toHaveLength(0);
  });
});

describe("a provider that refuses the reasoning inside its stream", () => {
  it("T43: streams its answer without it, as the only answer", async () => {
    const response = { id: "resp_1", object: "response", created_at: 1, output: [] };
    const { error } = refusals.responses as { error: { code: string; message: string } };
    const events = [
      { type: "response.created", response },
      { type: "response.failed", response: { ...response, status: "failed", error } },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    world.answer((request, upstream) =>
      (request.text.includes(proof) ? stream(events) : answering)(request, upstream),
    );
    const answer = await world.call(responses, {
      model: "acme/sole",
      stream: true,
      extra: sessions.responses,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-gw-dropped-params")).toContain("input.reasoning");
    const frames = await readEvents(answer);
    expect(frames.filter(({ event }) => event === "response.created")).toHaveLength(1);
    expect(responses.textOfFrames(frames)).toBe(answerText);
    expect(await outcomes(answer)).toHaveLength(2);
  });
});

describe("a provider that fails beside one that refuses the reasoning", () => {
  it("T43: leaves the call to the other, without the reasoning", async () => {
    world.answer(refusingProof);
    world.first.answer(json({ error: { message: "down" } }, 500));
    const answer = await world.call(responses, {
      model: cheapest(responses),
      extra: sessions.responses,
    });
    expect(answer.status).toBe(200);
    expect(await outcomes(answer)).toEqual([
      ["first", 500, "upstream_error"],
      ["second", 400, "upstream_rejected"],
      ["second", 200, "ok"],
    ]);
  });
});
