// Raw streams of the generateContent protocol, made for these tests: bytes as the vendor sends them, with CRLF.

const sse = (...frames: object[]): Uint8Array =>
  Buffer.from(frames.map((data) => `data: ${JSON.stringify(data)}\r\n\r\n`).join(""));

type Part = Record<string, unknown>;

const frame = (parts: Part[], more: object = {}, candidate: object = {}) => ({
  candidates: [{ content: { parts, role: "model" }, ...candidate, index: 0 }],
  ...more,
  modelVersion: "vendor-model-2026",
  responseId: "resp-01",
});

const usage = (counts: object) => ({ usageMetadata: counts });
const stop = { finishReason: "STOP" };

/** Thoughts, text with characters of two, three and four bytes, two parallel calls, the signature on the first. */
export const toolUse = sse(
  frame(
    [{ text: "Let me see", thought: true }],
    usage({ promptTokenCount: 100, cachedContentTokenCount: 90, totalTokenCount: 100 }),
  ),
  frame([{ text: ".", thought: true }]),
  frame([{ text: "Größe: 三 " }]),
  frame([{ text: "🙂\n" }]),
  frame([
    { functionCall: { name: "look", args: { where: "shelf" } }, thoughtSignature: "c2lnbmVk" },
    { functionCall: { name: "look", args: {} } },
  ]),
  frame(
    [{ text: "" }],
    usage({
      promptTokenCount: 100,
      candidatesTokenCount: 50,
      thoughtsTokenCount: 20,
      totalTokenCount: 170,
    }),
    stop,
  ),
);

/** The signature of an answer without calls is on a part of its own. */
export const loneSignature = sse(
  frame([{ text: "Hi" }]),
  frame([{ text: "", thoughtSignature: "c2lnbmVk" }], {}, stop),
);

/** Arguments in pieces, by JSON path. The last call is never closed. */
export const partialArguments = sse(
  frame([{ functionCall: { name: "cook", willContinue: true }, thoughtSignature: "c2ln" }]),
  frame([
    {
      functionCall: {
        partialArgs: [
          { jsonPath: "$.items[0].name", stringValue: "Noo", willContinue: true },
          { jsonPath: "$.items[0].name", stringValue: "dles" },
        ],
        willContinue: true,
      },
    },
  ]),
  frame([
    {
      functionCall: {
        partialArgs: [
          { jsonPath: "$.items[1]['the name']", stringValue: "Beef" },
          { jsonPath: "$.hot", boolValue: true },
          { jsonPath: "$.minutes", numberValue: 0 },
          { jsonPath: "$.note", nullValue: null },
          { jsonPath: "$.__proto__.polluted", stringValue: "yes" },
          { jsonPath: "$.items[99999999]", stringValue: "far" },
        ],
        willContinue: true,
      },
    },
  ]),
  frame([{ functionCall: {} }]),
  frame([{ functionCall: { name: "eat", willContinue: true } }]),
  frame([{ text: "" }], {}, stop),
);

export const blockedPrompt = sse({
  promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
  usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
  modelVersion: "vendor-model-2026",
});

/** The last frame has only usage, after the finish reason. */
export const usageLast = sse(frame([{ text: "Hi" }], {}, stop), {
  ...usage({ promptTokenCount: 9, candidatesTokenCount: 1, totalTokenCount: 10 }),
  modelVersion: "v",
});

/** A vendor that sends a finish reason with every frame. */
export const reasonEachTime = sse(
  frame([{ text: "One " }], {}, stop),
  frame([{ text: "two " }], {}, stop),
  frame([{ text: "three" }], {}, stop),
);

export const twoCandidates = sse(
  {
    ...frame([{ text: "A" }]),
    candidates: [0, 1].map((index) => ({ index, content: { parts: [{ text: "x" }] } })),
  },
  frame([{ text: "A" }], {}, stop),
  { candidates: [{ index: 1, content: { parts: [{ text: "B" }] } }], modelVersion: "v" },
  { candidates: [{ index: 1, content: { parts: [{ text: "B" }] }, ...stop }], modelVersion: "v" },
);

export const cut = sse(frame([{ text: "Hi" }]));

export const failing = sse(frame([{ text: "Hi" }]), {
  error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" },
});

/** Text and arguments that look like the model's name. */
export const lookalike = sse(
  frame([
    { text: 'say "modelVersion":"mine"}' },
    { functionCall: { name: "set", args: { modelVersion: "mine" } } },
  ]),
  {
    modelVersion: "vendor-model-2026",
    candidates: [{ content: { parts: [{ text: '"}' }] }, ...stop }],
  },
  {
    candidates: [
      { content: { parts: [{ functionCall: { name: "set", args: { modelVersion: "mine" } } }] } },
    ],
  },
);
