// `supported_parameters` tells what really reaches a model: what its upstream's protocol loses in conversion is left out.
import { describe, expect, it } from "vitest";
import { sandboxCatalog } from "../../src/catalog/index.ts";
import { listModels } from "../../src/calls/index.ts";
import { codecs } from "../../src/protocols/index.ts";

const listed = new Map(
  listModels(sandboxCatalog("http://sandbox"), undefined).map((model) => [model.id, model]),
);
const namesOf = (id: string) => Object.keys(listed.get(id)!.supported_parameters);

describe("supported_parameters", () => {
  it("of a model whose upstream speaks chat completions are all that the protocol has", () => {
    expect(namesOf("sandbox/chat")).toEqual(
      expect.arrayContaining(["seed", "n", "logit_bias", "response_format", "verbosity"]),
    );
    expect(namesOf("sandbox/multi")).toEqual(namesOf("sandbox/chat"));
  });

  it.each([
    [
      "sandbox/responses",
      ["stop", "seed", "presence_penalty", "frequency_penalty", "n", "logit_bias"],
      ["verbosity", "user", "top_logprobs", "safety_identifier"],
    ],
    [
      "sandbox/messages",
      ["seed", "presence_penalty", "response_format", "verbosity", "n", "logprobs"],
      ["stop", "user", "reasoning_effort", "parallel_tool_calls"],
    ],
    [
      "sandbox/generate-content",
      ["parallel_tool_calls", "verbosity", "user", "metadata", "logit_bias"],
      ["seed", "stop", "response_format", "n"],
    ],
  ])("of %s lack what is lost on the way there", (id, lost, kept) => {
    expect(namesOf(id).filter((name) => lost.includes(name))).toEqual([]);
    expect(namesOf(id)).toEqual(
      expect.arrayContaining(["max_tokens", "temperature", "tools", "stream", ...kept]),
    );
  });

  it("have the bounds by which the protocol checks a request", () => {
    const { supported_parameters: domains } = listed.get("sandbox/chat")!;
    const accepts = (name: string, value: unknown) => {
      const body = { model: "a/b", messages: [{ role: "user", content: "Hi" }], logprobs: true };
      try {
        codecs.chat.direct.validate({ ...body, [name]: value as string });
        return true;
      } catch {
        return false;
      }
    };
    let tried = 0;
    for (const [name, { type, min, max }] of Object.entries(domains)) {
      const made = (size: number) => (type === "array" ? Array<string>(size).fill("x") : size);
      for (const [bound, step] of [
        [min, -1],
        [max, 1],
      ] as const) {
        if (bound === undefined) continue;
        expect([name, accepts(name, made(bound)), accepts(name, made(bound + step))]).toEqual([
          name,
          true,
          false,
        ]);
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(10);
  });
});
