/** Code for each protocol and client, with the base URL, a model and one of the reader's keys. docs/clients.md has more. */
import {
  curlOfText,
  protocolNames,
  protocols,
  sdkCodesOf,
  type Protocol,
  type TextCall,
} from "../../base/code.ts";

export interface SnippetValues {
  /** Without a trailing slash. */
  readonly url: string;
  readonly model: string;
  readonly key: string;
}

export interface Snippet {
  readonly client: string;
  /** The protocol or language, if the client offers several; otherwise absent. */
  readonly protocol?: string;
  text(values: SnippetValues): string;
}

const hello = "Hello";
const messages = [{ role: "user", content: hello }];

/** The smallest call of each protocol. */
const bodies: Readonly<Record<Protocol, Record<string, unknown>>> = {
  chat: { messages },
  responses: { input: hello },
  messages: { max_tokens: 256, messages },
  generate_content: { contents: [{ role: "user", parts: [{ text: hello }] }] },
};

const callOf = (protocol: Protocol, values: SnippetValues): TextCall => ({
  ...values,
  protocol,
  stream: false,
  body: bodies[protocol],
});

const curls: readonly Snippet[] = protocols.map((protocol) => ({
  client: "curl",
  protocol: protocolNames[protocol],
  text: (values) => curlOfText(callOf(protocol, values)),
}));

/** Snippets of an SDK, in both its languages. */
const sdk = (client: string, protocol: Protocol): Snippet[] =>
  [0, 1].map((at) => ({
    client,
    protocol: ["Python", "JavaScript"][at]!,
    text: (values) => sdkCodesOf(callOf(protocol, values)).codes[at]!.text,
  }));

/** In tab order. */
export const snippets: readonly Snippet[] = [
  ...curls,
  ...sdk("OpenAI SDK", "chat"),
  ...sdk("Anthropic SDK", "messages"),
  ...sdk("Google SDK", "generate_content"),
  {
    client: "AI SDK",
    text: ({
      url,
      model,
      key,
    }) => `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText } from "ai";

const gateway = createOpenAICompatible({
  name: "tollgate",
  baseURL: "${url}/v1",
  apiKey: "${key}",
});
const { text } = await generateText({ model: gateway("${model}"), prompt: "${hello}" });
console.log(text);`,
  },
  {
    client: "LangChain",
    text: ({ url, model, key }) => `from langchain_openai import ChatOpenAI

chat = ChatOpenAI(base_url="${url}/v1", api_key="${key}", model="${model}")
print(chat.invoke("${hello}").content)`,
  },
  {
    client: "Claude Code",
    text: ({ url, model, key }) => `export ANTHROPIC_BASE_URL="${url}"
export ANTHROPIC_AUTH_TOKEN="${key}"
export ANTHROPIC_MODEL="${model}"
claude`,
  },
  {
    client: "Codex",
    text: ({ url, model, key }) => `# in ~/.codex/config.toml
model = "${model}"
model_provider = "tollgate"

[model_providers.tollgate]
name = "Tollgate"
base_url = "${url}/v1"
env_key = "TOLLGATE_API_KEY"
wire_api = "responses"

# in the shell
export TOLLGATE_API_KEY="${key}"`,
  },
  {
    client: "Gemini CLI",
    text: ({ url, model, key }) => `export GOOGLE_GEMINI_BASE_URL="${url}"
export GEMINI_API_KEY="${key}"
gemini --model "${model}"`,
  },
  {
    client: "opencode",
    text: ({ url, model, key }) =>
      JSON.stringify(
        {
          provider: {
            tollgate: {
              npm: "@ai-sdk/openai-compatible",
              options: { baseURL: `${url}/v1`, apiKey: key },
              models: { [model]: {} },
            },
          },
          model: `tollgate/${model}`,
        },
        null,
        2,
      ),
  },
  {
    client: "Editors",
    text: ({ url, model, key }) => `Choose "OpenAI compatible" where the editor asks for a provider.

Base URL  ${url}/v1
API key   ${key}
Model     ${model}`,
  },
];

export const clients: readonly string[] = [...new Set(snippets.map(({ client }) => client))];
