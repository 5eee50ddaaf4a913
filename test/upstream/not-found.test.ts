/** Vendors' 404s, by their messages: about an object that the caller named, or about the model or path, which the gateway chose. */
import { describe, expect, it } from "vitest";
import { codecs, type ProtocolName } from "../../src/protocols/index.ts";
import { namesStoredObject, outcomeOfStatus } from "../../src/upstream/index.ts";
import { costMs } from "../support/cost.ts";

type Row = readonly [title: string, protocol: ProtocolName, body: unknown, status?: number];

const openai = (message: string, code: string | null = null, param: string | null = null) => ({
  error: { message, type: "invalid_request_error", param, code },
});
const anthropic = (message: string) => ({
  type: "error",
  error: { type: "not_found_error", message },
});
const google = (message: string, code = 404, status = "NOT_FOUND") => ({
  error: { code, message, status },
});

const aboutObjects: readonly Row[] = [
  [
    "openai, a previous response",
    "responses",
    openai(
      "Previous response with id 'resp_0f09a275' not found.",
      "previous_response_not_found",
      "previous_response_id",
    ),
  ],
  [
    "openai, an item that was not stored",
    "responses",
    openai(
      "Item with id 'rs_037db69c' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
      null,
      "input",
    ),
  ],
  ["openai, a stored response", "responses", openai("Response with id 'resp_1' not found.")],
  ["openai, a thread", "chat", openai("No thread found with id 'thread_abc'.")],
  ["openai, a file", "responses", openai("No such File object: file-abc123", null, "id")],
  [
    "openai, a file of a container",
    "responses",
    openai("File cfile_68628828 not found on container cntr_686287a8."),
  ],
  ["openai, a container", "responses", openai("Container with id 'cntr_1' not found.")],
  ["openai, an expired container", "responses", openai("Container cntr_1 has expired.")],
  ["openai, a conversation", "responses", openai("Conversation with id 'conv_1' not found.")],
  ["openai, a vector store", "responses", openai("Vector store with id 'vs_1' not found.")],
  ["openai, a prompt", "responses", openai("Prompt with id 'pmpt_1' not found.")],
  ["openai, by the field alone", "responses", openai("Not found.", null, "previous_response_id")],
  ["fastapi, a thread", "chat", { detail: "Thread not found" }],
  ["vllm, a response", "responses", openai("Response with id 'resp_2' not found.", "404")],
  ["anthropic, a file", "messages", anthropic("File not found: file_011CNha8iCJcU1wXNR6q4V8w")],
  ["anthropic, a container", "messages", anthropic("Container container_01 does not exist")],
  ["anthropic, a skill", "messages", anthropic("Skill with ID 'skill_1' was not found")],
  ["google, a cache", "generate_content", google("CachedContent cachedContents/a1 not found.")],
  ["a deleted file with 410", "chat", openai("File file-1 has been deleted."), 410],
  [
    "openai, the model of a tool",
    "responses",
    {
      error: {
        message: "The requested model 'image-9' does not exist.",
        type: "invalid_request_error",
        param: "tools[0].model",
        code: "model_not_found",
      },
    },
    400,
  ],
  ["a message about a model id", "chat", openai("This text is not a valid model ID."), 400],
  [
    "google, a cache behind a 403",
    "generate_content",
    google("CachedContent not found (or permission denied)", 403, "PERMISSION_DENIED"),
    403,
  ],
  [
    "google, a file behind a 403",
    "generate_content",
    google(
      "You do not have permission to access the File files/abc or it may not exist.",
      403,
      "PERMISSION_DENIED",
    ),
    403,
  ],
];

const aboutProvider: readonly Row[] = [
  [
    "openai, its model",
    "chat",
    openai("The model `gpt-9` does not exist or you do not have access to it.", "model_not_found"),
  ],
  ["openai, its path", "chat", openai("Invalid URL (POST /v2/chat/completions)")],
  ["openai, without a subject", "chat", openai("Not found")],
  [
    "vllm, its model",
    "chat",
    {
      object: "error",
      message: "The model `file-search` does not exist.",
      type: "NotFoundError",
      param: null,
      code: 404,
    },
  ],
  ["ollama, its model", "chat", openai('model "llama9" not found, try pulling it first')],
  ["ollama, its path", "chat", "404 page not found"],
  [
    "groq, its model",
    "chat",
    openai("The model `llama3.1-405b` does not exist or you do not have access to it."),
  ],
  [
    "azure, its deployment",
    "chat",
    {
      error: {
        code: "DeploymentNotFound",
        message: "The API deployment for this resource does not exist.",
      },
    },
  ],
  ["azure, its path", "chat", { error: { code: "404", message: "Resource not found" } }],
  [
    "openrouter, its model",
    "chat",
    { error: { code: 404, message: "No endpoints found for acme/x." } },
  ],
  [
    "xai, its model",
    "chat",
    {
      code: "Some requested entity was not found",
      error: "The model grok-9 does not exist or your team does not have access to it.",
    },
  ],
  ["anthropic, its model", "messages", anthropic("model: claude-9")],
  ["anthropic, its path", "messages", anthropic("Not found")],
  [
    "google, its model",
    "generate_content",
    google(
      "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.",
    ),
  ],
  ["google, without a subject", "generate_content", google("Requested entity was not found.")],
  [
    "vertex, its model",
    "generate_content",
    google(
      "Publisher Model `projects/p/locations/l/publishers/google/models/x` was not found or your project does not have access to it.",
    ),
  ],
  [
    "a web server",
    "chat",
    "<html><head><title>404 Not Found</title></head><body>nginx</body></html>",
  ],
  ["a web server without the file", "chat", "File not found.\n"],
  ["a path that is named like an object", "responses", openai("Unknown path /v1/responses")],
  ["fastapi, its path", "chat", { detail: "Not Found" }],
  ["an empty body", "chat", ""],
  [
    "openai, its model with 400",
    "responses",
    {
      error: {
        message: "The requested model 'gpt-9' does not exist.",
        type: "invalid_request_error",
        param: "model",
        code: "model_not_found",
      },
    },
    400,
  ],
  [
    "deepseek, its model",
    "chat",
    {
      error: {
        message: "Model Not Exist",
        type: "invalid_request_error",
        param: null,
        code: "invalid_request_error",
      },
    },
    400,
  ],
  [
    "mistral, its model",
    "chat",
    { object: "error", message: "Invalid model: x-3", type: "invalid_model", code: "1500" },
    400,
  ],
  [
    "openrouter, its model with 400",
    "chat",
    { error: { message: "acme/x:free is not a valid model ID", code: 400 } },
    400,
  ],
  [
    "xai, its model with 400",
    "chat",
    { code: "Client specified an invalid argument", error: "Model not found: grok-9" },
    400,
  ],
  [
    "zhipu, its model",
    "chat",
    { error: { code: "1211", message: "Unknown Model, please check the model code." } },
    400,
  ],
  [
    "siliconflow, its model",
    "chat",
    { code: 20012, message: "Model does not exist. Please check it carefully.", data: null },
    400,
  ],
  [
    "litellm, its model",
    "chat",
    {
      error: {
        message: "{'error': '/chat/completions: Invalid model name passed in model=x-3.'}",
        type: "None",
        param: "None",
        code: "400",
      },
    },
    400,
  ],
  [
    "llama.cpp, its model",
    "chat",
    { error: { code: 400, message: "model not found", type: "invalid_request_error" } },
    400,
  ],
  [
    "nvidia, a retired model",
    "chat",
    {
      type: "about:blank",
      title: "Gone",
      status: 410,
      detail: "The model 'acme/x' has reached its end of life and is no longer available.",
    },
    410,
  ],
  [
    "our account",
    "generate_content",
    google("Permission denied on resource project p.", 403, "PERMISSION_DENIED"),
    403,
  ],
  ["our session", "chat", openai("Your session has expired."), 403],
];

const outcomeOf = ([, protocol, body, status = 404]: Row, request: object = {}) =>
  outcomeOfStatus(
    {
      status,
      wire: codecs[protocol].decodeError(status, body),
      headers: {},
      namesStoredObject: () => namesStoredObject(request),
    },
    0,
  );

const titled = (rows: readonly Row[]) => rows.map((row) => [row[0], row[1], row] as const);

describe("a vendor's 404", () => {
  it.each(titled(aboutObjects))(
    "about %s (%s) is the caller's fault, with the vendor's message",
    (_title, _protocol, row) => {
      const outcome = outcomeOf(row);
      expect(outcome).toMatchObject({ fault: "caller", hurtsHealth: false, retrySame: false });
      expect(outcome.credential).toBeUndefined();
      expect(outcome.error).toMatchObject({ code: "upstream_rejected", status: row[3] ?? 404 });
      const words = JSON.stringify(row[2]);
      expect(words).toContain(JSON.stringify(outcome.error.message).slice(1, -1));
    },
  );

  it.each(titled(aboutProvider))(
    "about %s (%s) is the provider's fault",
    (_title, _protocol, row) => {
      const outcome = outcomeOf(row);
      expect(outcome.fault).toBe("provider");
      expect(outcome.hurtsHealth).toBe(row[3] !== 403);
      expect(outcome.error.code).toBe("upstream_error");
    },
  );

  it("from Google without a subject is the caller's fault if the request names a stored object", () => {
    const row = aboutProvider.find(([title]) => title === "google, without a subject")!;
    const contents = [{ parts: [{ fileData: { fileUri: "https://g/files/1" } }] }];
    expect(outcomeOf(row, { cachedContent: "cachedContents/1" }).fault).toBe("caller");
    expect(outcomeOf(row, { contents }).fault).toBe("caller");
    expect(outcomeOf(row, { contents: [{ parts: [{ text: "fileUri" }] }] }).fault).toBe("provider");
  });

  it("with a long message is read quickly", async () => {
    const words = ["file ", "no such ", "the requested ", "permission to access the file "];
    const read = () => {
      for (const word of words) outcomeOf(["", "chat", openai(word.repeat(20_000))]);
    };
    expect(await costMs(read)).toBeLessThan(500);
  });
});
