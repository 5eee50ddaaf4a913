/** Renders a call as code: curl, and the official SDKs, from the body that is sent. Pure. docs/clients.md has more clients. */
import { quoted } from "./literals.ts";
import {
  anthropic,
  google,
  inLanguages,
  openai,
  type CodeText,
  type Place,
  type Sdk,
} from "./sdks.ts";

export const protocols = ["chat", "responses", "messages", "generate_content"] as const;
export type Protocol = (typeof protocols)[number];

export const protocolNames: Readonly<Record<Protocol, string>> = {
  chat: "chat completions",
  responses: "responses",
  messages: "messages",
  generate_content: "generateContent",
};

/** The protocol of this name, or the first one. */
export const protocolOf = (text: string | undefined): Protocol =>
  protocols.find((one) => one === text) ?? "chat";

/** A call of a text protocol. The body lacks the model and `stream`: each protocol places them differently. */
export interface TextCall extends Place {
  readonly protocol: Protocol;
  readonly model: string;
  readonly stream: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

const paths: Readonly<Record<Protocol, string>> = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
  generate_content: "",
};

/** The path of a call, below the base URL. */
export const pathOf = ({
  protocol,
  model,
  stream,
}: Pick<TextCall, "protocol" | "model" | "stream">) =>
  protocol === "generate_content"
    ? `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`
    : paths[protocol];

/** The body as sent on the wire. */
export const wireBody = ({
  protocol,
  model,
  stream,
  body,
}: Omit<TextCall, "url" | "key">): object =>
  protocol === "generate_content" ? body : { model, ...(stream && { stream }), ...body };

const keyHeaders: Readonly<Record<Protocol, string>> = {
  chat: "Authorization: Bearer ",
  responses: "Authorization: Bearer ",
  messages: "x-api-key: ",
  generate_content: "x-goog-api-key: ",
};

/** Renders a POST of a JSON body with curl. */
export const curlOf = (url: string, keyHeader: string, body: unknown, more = ""): string =>
  `curl ${/[?&]/.test(url) ? `"${url}"` : url} \\
  -H "${keyHeader}" \\
  -H "Content-Type: application/json" \\${more}
  -d ${quoted(JSON.stringify(body))}`;

/** Google's SDKs expect all fields except the contents in one `config`. */
function googleBody({ model, body }: TextCall): object {
  const { contents, generationConfig = {}, ...rest } = body;
  const config = { ...(generationConfig as object), ...rest };
  return { model, contents, ...(Object.keys(config).length > 0 && { config }) };
}

function sdkOf(call: TextCall): readonly [sdk: Sdk, body: object] {
  switch (call.protocol) {
    case "generate_content":
      return [google(call, call.stream), googleBody(call)];
    case "messages":
      return [anthropic(call), wireBody(call)];
    case "chat":
      return [
        openai(call, "chat.completions.create", "answer.choices[0].message.content"),
        wireBody(call),
      ];
    case "responses":
      return [openai(call, "responses.create", "answer.output_text"), wireBody(call)];
  }
}

/** Renders the call with curl. */
export const curlOfText = (call: TextCall): string =>
  curlOf(
    `${call.url}${pathOf(call)}`,
    `${keyHeaders[call.protocol]}${call.key}`,
    wireBody(call),
    call.stream ? "\n  -N \\" : "",
  );

/** Renders the call with its protocol's own SDK, in both languages. */
export function sdkCodesOf(call: TextCall): { name: string; codes: readonly CodeText[] } {
  const [sdk, body] = sdkOf(call);
  return { name: sdk.name, codes: inLanguages(sdk, body, call.stream) };
}
