/**
 * Requests as coding agents send them, each in its own protocol. No field that they rely on may be lost, although few are in
 * any schema of ours. Formats recorded from Claude Code 2.1, Codex CLI 0.169 and Gemini CLI 0.61.
 */
import { describe, expect, it } from "vitest";
import {
  expectedUpstream,
  modelOf,
  upstreamKey,
  upstreamModel,
  useBench,
  type Body,
  type Protocol,
} from "./support.ts";

const cached = { cache_control: { type: "ephemeral" } };
const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { command: { description: "What to run", type: "string" } },
  required: ["command"],
  additionalProperties: false,
};

const claudeCode: Body = {
  model: modelOf("messages"),
  messages: [
    {
      role: "user",
      content: [
        {
          type: "text",
          text: "<system-reminder>\nToday's date is 2026-11-20.\n</system-reminder>",
        },
        { type: "text", text: "list the files", ...cached },
      ],
    },
    { role: "system", content: "The user opened README.md." },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "", signature: "EqQBCkgIDBABGAIqQ==" },
        { type: "text", text: "I list them." },
        { type: "tool_use", id: "toolu_01", name: "Bash", input: { command: "ls" } },
        {
          type: "server_tool_use",
          id: "srvtoolu_01",
          name: "tool_search_tool_regex",
          input: { pattern: "x" },
        },
        {
          type: "tool_search_tool_result",
          tool_use_id: "srvtoolu_01",
          content: { type: "tool_search_tool_search_result", tool_references: [] },
        },
      ],
    },
    {
      role: "user",
      content: [
        {
          tool_use_id: "toolu_01",
          type: "tool_result",
          content: "README.md\n",
          is_error: false,
          ...cached,
        },
      ],
    },
  ],
  system: [
    { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.0; cc_entrypoint=cli;" },
    { type: "text", text: "You are Claude Code.", cache_control: { type: "ephemeral", ttl: "1h" } },
    { type: "text", text: "# Environment", ...cached },
  ],
  tools: [
    {
      name: "Bash",
      description: "Runs a command",
      input_schema: schema,
      eager_input_streaming: true,
    },
    { name: "Deferred", description: "Later", input_schema: schema, defer_loading: true },
    { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
    { type: "web_search_20260209", name: "web_search", max_uses: 8, allowed_callers: ["direct"] },
  ],
  metadata: { user_id: '{"device_id":"d","account_uuid":"","session_id":"s"}' },
  max_tokens: 32_000,
  thinking: { type: "adaptive", display: "summarized" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  output_config: { effort: "medium" },
  stream: true,
};

const codex: Body = {
  model: modelOf("responses"),
  input: [
    {
      type: "message",
      role: "developer",
      content: [{ type: "input_text", text: "<permissions>" }],
    },
    { type: "message", role: "user", content: [{ type: "input_text", text: "list the files" }] },
    { type: "reasoning", summary: [], content: null, encrypted_content: "gAAAAABpH" },
    {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "I look." }],
      phase: "commentary",
    },
    {
      type: "function_call",
      name: "shell_command",
      namespace: "local",
      arguments: '{"command":"ls"}',
      call_id: "call_1",
    },
    { type: "function_call_output", call_id: "call_1", output: "README.md" },
    { type: "custom_tool_call", call_id: "call_2", name: "apply_patch", input: "*** Begin Patch" },
    { type: "custom_tool_call_output", call_id: "call_2", output: "Done" },
    { type: "web_search_call", status: "completed", action: { type: "search", query: "x" } },
    { type: "compaction", encrypted_content: "gAAAAABpI" },
  ],
  tools: [
    {
      type: "function",
      name: "shell_command",
      description: "Runs",
      strict: false,
      parameters: schema,
    },
    {
      type: "custom",
      name: "apply_patch",
      description: "Edits",
      format: { type: "grammar", syntax: "lark", definition: "start: x" },
    },
    {
      type: "namespace",
      name: "mcp__docs",
      description: "Documents",
      tools: [{ type: "function", name: "find", defer_loading: true, parameters: schema }],
    },
    { type: "web_search", external_web_access: false },
  ],
  tool_choice: "auto",
  parallel_tool_calls: true,
  reasoning: { effort: "medium", context: "all_turns" },
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "019a9b1c-0000",
  text: { verbosity: "low" },
  client_metadata: { "x-codex-installation-id": "i", turn: "{}" },
};

const geminiCli: Body = {
  contents: [
    { parts: [{ text: "This is the Gemini CLI." }, { text: "list the files" }], role: "user" },
    {
      parts: [
        {
          functionCall: { name: "list_directory", args: { dir_path: "." }, id: "list_directory-1" },
          thoughtSignature: "skip_thought_signature_validator",
        },
      ],
      role: "model",
    },
    {
      parts: [
        {
          functionResponse: {
            id: "list_directory-1",
            name: "list_directory",
            response: { output: "README.md" },
          },
        },
      ],
      role: "user",
    },
  ],
  systemInstruction: { parts: [{ text: "You are an agent." }], role: "user" },
  tools: [
    {
      functionDeclarations: [
        { name: "list_directory", description: "Lists", parametersJsonSchema: schema },
      ],
    },
  ],
  generationConfig: {
    temperature: 1,
    topP: 0.95,
    topK: 64,
    thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" },
  },
};

interface Agent {
  readonly name: string;
  readonly protocol: Protocol;
  readonly path: string;
  readonly body: Body;
  readonly headers: Record<string, string>;
  /** The headers that the upstream must receive. */
  readonly kept: Record<string, string>;
}

const claudeBetas = {
  "anthropic-version": "2023-06-01",
  "anthropic-beta":
    "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27",
};

const agents: readonly Agent[] = [
  {
    name: "Claude Code",
    protocol: "messages",
    path: "/v1/messages?beta=true",
    body: claudeCode,
    headers: {
      ...claudeBetas,
      "anthropic-dangerous-direct-browser-access": "true",
      "x-app": "cli",
      "x-claude-code-session-id": "s",
      "user-agent": "claude-cli/2.1.0 (external, cli)",
    },
    kept: { ...claudeBetas, "x-api-key": upstreamKey },
  },
  {
    name: "Codex",
    protocol: "responses",
    path: "/v1/responses",
    body: codex,
    headers: { originator: "codex_exec", session_id: "s", "x-codex-turn-metadata": "{}" },
    kept: { authorization: `Bearer ${upstreamKey}` },
  },
  {
    name: "Gemini CLI",
    protocol: "generate_content",
    path: `/v1beta/models/${modelOf("generate_content")}:streamGenerateContent?alt=sse`,
    body: geminiCli,
    headers: { "user-agent": "GeminiCLI/0.61.0", "x-goog-api-client": "google-genai-sdk/1.30.0" },
    kept: { "x-goog-api-key": upstreamKey },
  },
];

describe("coding agents on their own protocol", () => {
  const bench = useBench();

  it.each(agents)(
    "TXT-07: $name's request arrives unchanged, with the provider's credential",
    async ({ protocol, path, body, headers, kept }) => {
      const { gateway, received } = bench;
      let answer = "";
      const [request] = await received(async () => {
        const reply = await gateway.post(path, body, headers);
        expect(reply.status).toBe(200);
        answer = await reply.text();
      });
      expect(request!.text).toBe(expectedUpstream(protocol, body));
      expect(request!.headers).toMatchObject(kept);
      expect(answer).toContain("Yes.");
      expect(answer).toContain(modelOf(protocol));
      expect(answer).not.toContain(upstreamModel);
      expect(JSON.stringify(request!.headers)).not.toContain(gateway.key);
    },
  );
});

describe("the caller's headers", () => {
  const bench = useBench();
  const noise = {
    cookie: "session=secret-of-the-caller",
    "x-forwarded-for": "203.0.113.7",
    "x-real-ip": "203.0.113.7",
    forwarded: "for=203.0.113.7",
    "openai-organization": "org-of-the-caller",
    "openai-project": "proj-of-the-caller",
    "x-stainless-os": "Linux",
    "idempotency-key": "idem-of-the-caller",
    "x-request-id": "id-of-the-caller",
    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "user-agent": "agent-of-the-caller",
    "accept-language": "de",
  };
  const allowed = new Set([
    "host",
    "connection",
    "content-type",
    "content-length",
    "accept",
    "user-agent",
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "anthropic-version",
    "anthropic-beta",
  ]);

  const question = { role: "user", content: "Hi" };
  const asked: Readonly<Record<Protocol, readonly [path: string, body: Body]>> = {
    chat: ["/v1/chat/completions", { messages: [question] }],
    responses: ["/v1/responses", { input: "Hi" }],
    messages: ["/v1/messages", { max_tokens: 10, messages: [question] }],
    generate_content: [
      `/v1beta/models/${modelOf("generate_content")}:generateContent`,
      { contents: [{ parts: [{ text: "Hi" }] }] },
    ],
  };
  const carriers = ["authorization", "x-api-key", "x-goog-api-key"];
  const rows = (Object.keys(asked) as Protocol[]).flatMap((protocol) =>
    carriers.map((carrier) => ({ protocol, carrier })),
  );

  it.each(rows)("leak nothing at $protocol, with the key in $carrier", async (row) => {
    const { protocol, carrier } = row;
    const [path, body] = asked[protocol];
    const { gateway, received } = bench;
    const sent = protocol === "generate_content" ? body : { model: modelOf(protocol), ...body };
    const key = carrier === "authorization" ? `Bearer ${gateway.key}` : gateway.key;
    const [request] = await received(async () => {
      const headers = { ...noise, authorization: "", [carrier]: key };
      expect((await gateway.post(path, sent, headers)).status).toBe(200);
    });
    const { headers } = request!;
    expect(Object.keys(headers).filter((name) => !allowed.has(name))).toEqual([]);
    const everything = JSON.stringify([request!.path, headers, request!.text]);
    expect(everything).not.toContain(gateway.key);
    expect(everything).not.toMatch(/of-the-caller|203\.0\.113|4bf92f35/);
    const credentials = carriers.filter((name) => headers[name] !== undefined);
    expect(credentials).toHaveLength(1);
    expect(headers[credentials[0]!]).toContain(upstreamKey);
  });

  it("include anthropic-version and anthropic-beta unchanged; without a version a default is sent", async () => {
    const { gateway, received } = bench;
    const body = { model: modelOf("messages"), max_tokens: 10, messages: [question] };
    const requests = await received(async () => {
      await gateway.post("/v1/messages", body);
      await gateway.post("/v1/messages", body, {
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "a-2026-01-01, b-2026-02-02",
      });
    });
    expect(requests.map(({ headers }) => headers["anthropic-version"])).toEqual([
      "2023-06-01",
      "2026-10-21",
    ]);
    expect(requests.map(({ headers }) => headers["anthropic-beta"])).toEqual([
      undefined,
      "a-2026-01-01, b-2026-02-02",
    ]);
  });

  it("are not joined by the caller's query: it is not forwarded, nor a key in it", async () => {
    const { gateway, received } = bench;
    const path = `/v1beta/models/${modelOf("generate_content")}:generateContent?key=${gateway.key}&prettyPrint=false`;
    const [request] = await received(() =>
      gateway.post(path, { contents: [{ parts: [{ text: "Hi" }] }] }, { authorization: "" }),
    );
    expect(request!.path).toBe(`/v1beta/models/${upstreamModel}:generateContent`);
  });
});
