/** How to create and call the official SDKs, in Python and JavaScript. */
import { javascript, pythonArguments } from "./literals.ts";

/** The endpoint of calls. */
export interface Place {
  /** Without a trailing slash. */
  readonly url: string;
  readonly key: string;
}

export interface CodeText {
  readonly label: string;
  readonly text: string;
}

interface Language {
  readonly client: string;
  readonly call: string;
}

/** How to call an SDK, in both languages. */
export interface Sdk {
  readonly name: string;
  readonly python: Language;
  readonly javascript: Language;
  /** The expression that the code prints. */
  readonly result: string;
}

/** Renders the call in both languages. */
export const inLanguages = (sdk: Sdk, body: object, stream: boolean): readonly CodeText[] => [
  { label: "Python", text: inPython(sdk, body, stream) },
  { label: "JavaScript", text: inJavaScript(sdk, body, stream) },
];

const inPython = ({ python: { client, call }, result }: Sdk, body: object, stream: boolean) =>
  stream
    ? `${client}\nfor event in ${call}(\n${pythonArguments(body)}):\n    print(event)`
    : `${client}\nanswer = ${call}(\n${pythonArguments(body)})\nprint(${result})`;

const inJavaScript = (
  { javascript: { client, call }, result }: Sdk,
  body: object,
  stream: boolean,
) =>
  stream
    ? `${client}\nfor await (const event of await ${call}(${javascript(body)})) {\n  console.log(event);\n}`
    : `${client}\nconst answer = await ${call}(${javascript(body)});\nconsole.log(${result});`;

export const openai = ({ url, key }: Place, call: string, result: string): Sdk => ({
  name: "OpenAI SDK",
  python: {
    client: `from openai import OpenAI\n\nclient = OpenAI(base_url="${url}/v1", api_key="${key}")`,
    call: `client.${call}`,
  },
  javascript: {
    client: `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: "${url}/v1", apiKey: "${key}" });`,
    call: `client.${call}`,
  },
  result,
});

export const anthropic = ({ url, key }: Place): Sdk => ({
  name: "Anthropic SDK",
  python: {
    client: `from anthropic import Anthropic\n\nclient = Anthropic(base_url="${url}", api_key="${key}")`,
    call: "client.messages.create",
  },
  javascript: {
    client: `import Anthropic from "@anthropic-ai/sdk";\n\nconst client = new Anthropic({ baseURL: "${url}", apiKey: "${key}" });`,
    call: "client.messages.create",
  },
  result: "answer.content",
});

export const google = ({ url, key }: Place, stream: boolean): Sdk => ({
  name: "Google SDK",
  python: {
    client: `from google import genai\n\nclient = genai.Client(api_key="${key}", http_options={"base_url": "${url}"})`,
    call: `client.models.generate_content${stream ? "_stream" : ""}`,
  },
  javascript: {
    client: `import { GoogleGenAI } from "@google/genai";\n\nconst client = new GoogleGenAI({ apiKey: "${key}", httpOptions: { baseUrl: "${url}" } });`,
    call: `client.models.generateContent${stream ? "Stream" : ""}`,
  },
  result: "answer.text",
});
