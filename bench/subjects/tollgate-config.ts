/** The configuration of a measured Tollgate: the upstream, once for each form of answer. Every commit must be able to read it. */

/** The catalog for `upstreamUrl`. Each model is named after its conversion and its form of answer. */
export function tollgateConfig(upstreamUrl: string): string {
  const answers = ["whole", "stream", "held"] as const;
  const providers = answers.flatMap((answer) => {
    const rest = `base_url: ${upstreamUrl}/${answer}/v1, api_key: none, tier: community`;
    return [
      `  - { id: ${answer}, dialect: openai-compatible, ${rest} }`,
      `  - { id: ${answer}-messages, dialect: anthropic, ${rest} }`,
    ];
  });
  const models = answers.flatMap((answer) => [
    textModel(`bench/direct-${answer}`, answer, "chat"),
    textModel(`bench/converted-${answer}`, `${answer}-messages`, "messages"),
  ]);
  return `
limits: { queue: { global: 1000000, per_workspace: 1000000 } }
providers:
${providers.join("\n")}
  - { id: videos, dialect: xai, base_url: ${upstreamUrl}/whole/v1, api_key: none, tier: community }
models:
  - id: bench/clip
    kind: video
    family: video-v1
    offers:
      - { provider: videos, upstream_model: bench-clip,
          price: { output_second: { 480p: "0.05", 720p: "0.07" }, input_image: "0.01" } }
  - id: bench/picture
    kind: image
    family: image-a
    offers:
      - { provider: whole, upstream_model: bench-picture,
          price: { input: "5.00", image_input: "8.00", output: "10.00", image_output: "30.00" } }
${models.join("")}`;
}

const textModel = (id: string, provider: string, protocol: string): string => `
  - id: ${id}
    kind: text
    endpoints: [chat_completions]
    context_length: 400000
    max_output_tokens: 32000
    offers:
      - { provider: ${provider}, protocol: ${protocol}, upstream_model: bench-large,
          price: { input: "0.50", cache_read: "0.05", cache_write: "0.625", output: "2.00" } }
`;
