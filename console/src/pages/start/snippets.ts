/** How each protocol and client is called: texts with the base URL, a model and a key of the reader's. docs/clients.md has more. */

export interface Filled {
  /** Without a slash at the end. */
  readonly url: string;
  readonly model: string;
  readonly key: string;
}

export interface Snippet {
  readonly client: string;
  /** What it is called in, for a choice within the client; absent where there is one. */
  readonly protocol?: string;
  text(filled: Filled): string;
}

const hello = "Hello";

const curl = (path: string, header: string, body: (filled: Filled) => object) => (filled: Filled) =>
  `curl ${filled.url}${path.replace("{model}", filled.model)} \\
  -H "${header}${filled.key}" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body(filled))}'`;

const bearer = "Authorization: Bearer ";
const messages = [{ role: "user", content: hello }];

/** In the order of the tabs. */
export const snippets: readonly Snippet[] = [
  {
    client: "curl",
    protocol: "chat completions",
    text: curl("/v1/chat/completions", bearer, ({ model }) => ({ model, messages })),
  },
  {
    client: "curl",
    protocol: "responses",
    text: curl("/v1/responses", bearer, ({ model }) => ({ model, input: hello })),
  },
  {
    client: "curl",
    protocol: "messages",
    text: curl("/v1/messages", "x-api-key: ", ({ model }) => ({
      model,
      max_tokens: 256,
      messages,
    })),
  },
  {
    client: "curl",
    protocol: "generateContent",
    text: curl("/v1beta/models/{model}:generateContent", "x-goog-api-key: ", () => ({
      contents: [{ role: "user", parts: [{ text: hello }] }],
    })),
  },
  {
    client: "OpenAI SDK",
    protocol: "Python",
    text: ({ url, model, key }) => `from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key="${key}")
answer = client.chat.completions.create(
    model="${model}", messages=[{"role": "user", "content": "${hello}"}]
)
print(answer.choices[0].message.content)`,
  },
  {
    client: "OpenAI SDK",
    protocol: "JavaScript",
    text: ({ url, model, key }) => `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${url}/v1", apiKey: "${key}" });
const answer = await client.responses.create({ model: "${model}", input: "${hello}" });
console.log(answer.output_text);`,
  },
  {
    client: "Anthropic SDK",
    text: ({ url, model, key }) => `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: "${url}", apiKey: "${key}" });
const answer = await client.messages.create({
  model: "${model}",
  max_tokens: 256,
  messages: [{ role: "user", content: "${hello}" }],
});
console.log(answer.content);`,
  },
  {
    client: "Google SDK",
    text: ({ url, model, key }) => `import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({ apiKey: "${key}", httpOptions: { baseUrl: "${url}" } });
const answer = await client.models.generateContent({ model: "${model}", contents: "${hello}" });
console.log(answer.text);`,
  },
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
