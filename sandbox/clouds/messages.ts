/** Claude as clouds host it: the model stands in the path and not in the body, and the body names a version of its own. */
import { messages } from "../anthropic/messages.ts";
import { asList, asText } from "../json.ts";
import { Refusal } from "../refusal.ts";
import type { Call, Check, Endpoint } from "../vendor.ts";

/** Flags of Anthropic's own API, which the clouds refuse. */
const refusedFlags = [
  "advanced-tool-use-2025-11-20",
  "fast-mode-2026-02-01",
  "oauth-2025-04-20",
  "prompt-caching-scope-2026-01-05",
  "redact-thinking-2026-02-12",
];

/** Fields of such flags, within tools and blocks. */
const refusedFields: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["scope", /"cache_control":\{[^{}]*"scope":/],
  ["eager_input_streaming", /"eager_input_streaming":/],
];

/** The messages endpoint behind a cloud that wants this `anthropic_version`, and refuses these fields. */
export function hostedMessages(version: string, refused: readonly string[]): Endpoint {
  /** The call as the vendor itself takes it. */
  const inner = (call: Call): Call => {
    const { anthropic_version: _version, anthropic_beta: betas, ...body } = call.body;
    const inBody =
      betas === undefined ? {} : { "anthropic-beta": asList(betas).map(asText).join(",") };
    const headers = { ...call.headers, "anthropic-version": "2023-06-01", ...inBody };
    return { ...call, headers, body: { model: call.model, ...body } };
  };
  const outer: Check = ({ body, headers }) => {
    const flags = [
      ...asList(body["anthropic_beta"]).map(asText),
      ...(headers["anthropic-beta"] ?? "").toString().split(/, */),
    ];
    if (flags.some((flag) => refusedFlags.includes(flag)))
      throw new Refusal(400, { message: "invalid beta flag" });
    const { messages: turns, tools, system } = body;
    const text = JSON.stringify([tools, system, turns]);
    const [field] = refusedFields.find(([, pattern]) => pattern.test(text)) ?? [];
    const extra = field ?? [...refused, "cache_control"].find((name) => body[name] !== undefined);
    if (extra !== undefined)
      throw new Refusal(400, { message: `${extra}: Extra inputs are not permitted` });
    if (body["anthropic_version"] === version) return;
    const message =
      body["anthropic_version"] === undefined
        ? "anthropic_version: Field required"
        : `anthropic_version: Input should be '${version}'`;
    throw new Refusal(400, { message });
  };
  return {
    name: "messages",
    strict: [
      outer,
      ...messages.strict.map(
        (check): Check =>
          (call) =>
            check(inner(call)),
      ),
    ],
    question: (call) => messages.question(inner(call)),
    render: (call, answer) => messages.render(inner(call), answer),
  };
}
