/** The configuration of a model with two providers at one server; `first` is the cheaper one. */

interface TwoProviders {
  /** The server's address; each provider has its own path there. */
  readonly url: string;
  readonly protocol?: "chat" | "responses";
  /** The keys of a provider. */
  readonly keys?: (id: string) => string;
}

/** The configuration of `lab/chat`, for a gateway under test. */
export function twoProviders({ url, protocol = "chat", keys = () => "api_key: k" }: TwoProviders) {
  const provider = (id: string) =>
    `  - { id: ${id}, dialect: openai-compatible, base_url: "${url}/${id}/v1", ${keys(id)} }`;
  const offer = (id: string, rate: number) =>
    `      - { provider: ${id}, protocol: ${protocol}, upstream_model: m, price: { input: "${rate}", output: "${rate}" } }`;
  return `
providers:
${provider("first")}
${provider("second")}
models:
  - id: lab/chat
    kind: text
    context_length: 1000
    max_output_tokens: 100
    offers:
${offer("first", 1)}
${offer("second", 2)}
`;
}
