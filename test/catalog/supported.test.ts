// `supported_parameters` lists the parameters that really reach a model, without those that conversion to its upstream's
// protocol loses.
import { describe, expect, it } from "vitest";
import { environmentCatalog, sandboxCatalog } from "../../src/catalog/index.ts";
import { listModels } from "../../src/calls/index.ts";
import { codecs } from "../../src/protocols/index.ts";

const listed = new Map(
  listModels(sandboxCatalog("http://sandbox"), undefined).map((model) => [model.id, model]),
);
const namesOf = (id: string) => Object.keys(listed.get(id)!.supported_parameters);

describe("supported_parameters", () => {
  it("lists all parameters of the protocol for a model whose upstream speaks chat completions", () => {
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
  ])("leaves out the parameters of %s that conversion loses", (id, lost, kept) => {
    expect(namesOf(id).filter((name) => lost.includes(name))).toEqual([]);
    expect(namesOf(id)).toEqual(
      expect.arrayContaining(["max_tokens", "temperature", "tools", "stream", ...kept]),
    );
  });

  it("follows the model's record: its parameters, efforts and tool choices", () => {
    const variables = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", DASHSCOPE_API_KEY: "k" };
    const models = new Map(
      listModels(environmentCatalog(variables), undefined).map((model) => [model.id, model]),
    );
    const of = (id: string) => models.get(id)!.supported_parameters;
    const claude = of("anthropic/claude-opus-5-5");
    expect(Object.keys(claude)).not.toContain("temperature");
    expect(claude["reasoning_effort"]).toEqual({
      type: "enum",
      values: ["low", "medium", "high", "xhigh", "max"],
    });
    expect(claude["tool_choice"]).toEqual({ type: "enum", values: ["auto", "none"] });
    const sonnet = of("anthropic/claude-sonnet-5-5")["reasoning_effort"];
    expect(sonnet?.values?.[0]).toBe("none");
    expect(Object.keys(of("openai/gpt-6.2-sol"))).not.toContain("top_p");
    expect(Object.keys(of("openai/gpt-5.4"))).toContain("top_p");
    expect(Object.keys(of("alibaba/qwen3-max"))).not.toContain("reasoning_effort");
    expect(models.get("alibaba/qwen3-max")!.architecture.input_modalities).toEqual(["text"]);
  });

  it("has the bounds that the protocol enforces", () => {
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

describe("a media model in the list", () => {
  it("has its endpoints, its parameters and its price by tier", () => {
    const video = listed.get("sandbox/video-model-v1")!;
    expect(video).toMatchObject({
      context_length: 0,
      max_output_tokens: 0,
      architecture: { input_modalities: ["text", "image"], output_modalities: ["video"] },
      endpoints: ["tasks", "videos_generations"],
      pricing: [
        {
          billable: "output_video_seconds",
          unit: "second",
          price_usd: "0.05",
          when: { resolution: "480p" },
        },
        {
          billable: "output_video_seconds",
          unit: "second",
          price_usd: "0.07",
          when: { resolution: "720p" },
        },
        { billable: "input_images", unit: "image", price_usd: "0.01" },
      ],
      providers: [{ id: "sandbox-xai", supply_tier: "community", supports_streaming: false }],
    });
    expect(video.supported_parameters).toMatchObject({
      duration: { type: "integer", min: 1, max: 15, default: 8 },
      resolution: { type: "enum", values: ["480p", "720p"], default: "480p" },
      audio: { type: "boolean", default: true },
      generate_audio: { type: "boolean", default: true },
      reference_images: { type: "array", max: 14 },
    });
  });

  it.each([
    ["image-model-a", ["images_generations", "images_edits"], 4],
    ["image-model-b", ["images_edits", "tasks"], 4],
    ["task-image-model-1", ["tasks"], 5],
    ["task-image-model-2", ["tasks"], 4],
    ["image-model-c", ["tasks"], 2],
    ["video-model-v1.5", ["tasks", "videos_generations"], 4],
    ["video-model-seconds", ["tasks"], 4],
    ["video-model-tokens", ["tasks"], 1],
  ])("%s is listed at %j, with %i prices", (name, endpoints, prices) => {
    const model = listed.get(`sandbox/${name}`)!;
    expect([model.endpoints, model.pricing.length]).toEqual([endpoints, prices]);
    expect(Object.keys(model.supported_parameters)).toContain("prompt");
  });
});
