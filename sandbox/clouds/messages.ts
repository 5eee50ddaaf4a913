/** Claude as clouds host it: the model stands in the path and not in the body, and the body names a version of its own. */
import { messages } from "../anthropic/messages.ts";
import { asList, asText } from "../json.ts";
import { Refusal } from "../refusal.ts";
import type { Call, Check, Endpoint } from "../vendor.ts";

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
  const outer: Check = ({ body }) => {
    const extra = refused.find((name) => body[name] !== undefined);
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
