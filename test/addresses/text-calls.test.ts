/**
 * Addresses that callers of text models name for a vendor to fetch. On direct and converted routes, the gateway refuses a file
 * or a private network before it asks any vendor. Trap T77.
 */
import { describe, expect, it } from "vitest";
import { addressesIn } from "../../src/protocols/index.ts";
import {
  conversions,
  names,
  pictureDataUrl,
  pictureUrl,
  user,
  type Body,
  type Name,
} from "../conversion/world.ts";
import { costMs } from "../support/cost.ts";
import { startTestGateway } from "../support/gateway.ts";

const world = conversions();

const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } };
const use = { type: "tool_use", id: "c1", name: "look", input: {} };
const used = { role: "assistant", content: [use] };
const image = (url: string) => ({ type: "image", source: { type: "url", url } });
const input = (...items: Body[]): Body => ({ input: items });
const parts = (...list: Body[]): Body => ({ contents: [{ role: "user", parts: list }] });
const schemaWithAddress = { type: "object", examples: [{ image_url: "http://localhost:3000" }] };

/** Each place of a protocol where an address may stand, with the name of the field in the error. */
const places: readonly (readonly [Name, string, (url: string) => Body])[] = [
  [
    "chat",
    "messages[0].content[0].image_url.url",
    (url) => user([{ type: "image_url", image_url: { url } }]),
  ],
  [
    "chat",
    "messages[0].content[0].video_url.url",
    (url) => user([{ type: "video_url", video_url: { url } }]),
  ],
  [
    "chat",
    "messages[0].content[0].file.file_data",
    (url) => user([{ type: "file", file: { file_data: url } }]),
  ],
  [
    "chat",
    "messages[0].content[0].input_audio.data",
    (url) => user([{ type: "input_audio", input_audio: { data: url, format: "mp3" } }]),
  ],
  [
    "chat",
    "messages[2].content[0].image_url.url",
    (url) => ({
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: [{ type: "image_url", image_url: { url } }] },
      ],
    }),
  ],
  [
    "responses",
    "input[0].content[0].image_url",
    (url) => input({ role: "user", content: [{ type: "input_image", image_url: url }] }),
  ],
  [
    "responses",
    "input[0].content[0].file_url",
    (url) => input({ role: "user", content: [{ type: "input_file", file_url: url }] }),
  ],
  [
    "responses",
    "input[1].output[0].image_url",
    (url) =>
      input(
        { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "c1",
          output: [{ type: "input_image", image_url: url }],
        },
      ),
  ],
  [
    "responses",
    "tools[0].server_url",
    (url) => ({ tools: [{ type: "mcp", server_label: "s", server_url: url }] }),
  ],
  ["chat", "tools[0].server_url", (url) => ({ tools: [{ type: "mcp", server_url: url }] })],
  [
    "generate_content",
    "tools[0].mcpServers[0].streamableHttpTransport.url",
    (url) => ({ tools: [{ mcpServers: [{ name: "s", streamableHttpTransport: { url } }] }] }),
  ],
  ["messages", "messages[0].content[0].source.url", (url) => user([image(url)])],
  [
    "messages",
    "messages[0].content[0].source.url",
    (url) => user([{ type: "document", source: { type: "url", url } }]),
  ],
  [
    "messages",
    "messages[2].content[0].content[0].source.url",
    (url) => ({
      messages: [
        { role: "user", content: "Look." },
        used,
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "c1", content: [image(url)] }],
        },
      ],
    }),
  ],
  ["messages", "mcp_servers[0].url", (url) => ({ mcp_servers: [{ type: "url", name: "s", url }] })],
  [
    "generate_content",
    "contents[0].parts[0].fileData.fileUri",
    (url) => parts({ fileData: { mimeType: "image/png", fileUri: url } }),
  ],
  [
    "generate_content",
    "contents[0].parts[0].file_data.file_uri",
    (url) => parts({ file_data: { mime_type: "image/png", file_uri: url } }),
  ],
  [
    "generate_content",
    "contents[0].parts[0].functionResponse.parts[0].fileData.fileUri",
    (url) =>
      parts({
        functionResponse: {
          name: "look",
          response: {},
          parts: [{ fileData: { mimeType: "image/png", fileUri: url } }],
        },
      }),
  ],
];

/** Spellings of addresses that the gateway refuses, each with a word of the reason. */
const refused = [
  ["file:///etc/passwd", "file:"],
  ["FILE:/etc/passwd", "file:"],
  [" fi\tle:///etc/passwd", "file:"],
  [`${" ".repeat(200)}f\n${"\t".repeat(200)}ile:///etc/passwd`, "file:"],
  ["\u00a0\ufefffile:///etc/passwd", "file:"],
  ["\u00a0http://example.com/a.png", "not a URL"],
  ["ftp://example.com/a.png", "ftp:"],
  ["gopher://127.0.0.1:6379/_x", "gopher:"],
  ["localhost:8080/a.png", "localhost:"],
  ["http://169.254.169.254/latest/meta-data/", "private"],
  ["http://metadata.google.internal/computeMetadata/v1/", "private"],
  ["http://instance-data/latest", "private"],
  ["http://redis:6379/", "private"],
  ["http://api.default.svc.cluster.local/", "private"],
  ["https://localhost/a.png", "private"],
  ["https://LOCALHOST./a.png", "dot"],
  ["http://127.1/a.png", "private"],
  ["http://2130706433/", "private"],
  ["http://0x7f000001/", "private"],
  ["http://0177.0.0.1/", "private"],
  ["http://[::1]/", "private"],
  ["http://[::ffff:10.0.0.1]/", "private"],
  ["http://10.0.0.1/a.png", "private"],
  ["http://user:pass@example.com/", "credentials"],
  [" http://127.0.0.1/", "spaces"],
  ["https://example.com\\@10.0.0.1/", "backslashes"],
] as const;

const at = ([from, param]: (typeof places)[number]): string => `${from} ${param}`;

describe("an address in a text call", () => {
  it.each(places.map((place) => [at(place), place] as const))(
    "T77: may not be a file or a private host in %s, whatever the upstream",
    async (_title, [from, param, body]) => {
      for (const to of names) {
        for (const [url, why] of [refused[0], refused[9], refused[15]]) {
          const { status, up, answer } = await world.send(from, to, body(url));
          const text = JSON.stringify(answer);
          expect([to, url, status, up]).toEqual([to, url, 400, undefined]);
          expect(text).toContain(param);
          expect(text).toContain(why);
        }
      }
    },
  );

  it.each(refused)("T77: %j is refused: %s", async (url, why) => {
    for (const name of ["chat", "responses", "messages", "generate_content"] as const) {
      const [from, , body] = places.find(([protocol]) => protocol === name)!;
      const { status, up, answer } = await world.send(from, from, body(url));
      expect([status, up]).toEqual([400, undefined]);
      expect(JSON.stringify(answer)).toContain(why);
    }
  });

  it("T77: is refused in a token count too", async () => {
    const { gateway } = world;
    const body = { model: "acme/messages", ...user([image("http://10.0.0.1/a.png")]) };
    const answer = await gateway().post("/v1/messages/count_tokens", body);
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining("messages[0].content[0].source.url"),
    ]);
    expect(world.upstream().requests).toEqual([]);
  });

  it.each([
    ["chat", user([{ type: "image_url", image_url: { url: pictureUrl } }])],
    ["chat", user([{ type: "image_url", image_url: { url: pictureDataUrl } }])],
    // Bare base64, which may begin like a path, and a long signed address.
    ["chat", user([{ type: "image_url", image_url: { url: "/9j/4AAQSkZJRg==" } }])],
    [
      "chat",
      user([{ type: "image_url", image_url: { url: `${pictureUrl}?s=${"x".repeat(4000)}` } }]),
    ],
    ["chat", user([{ type: "image_url", image_url: { url: "oss://dashscope-instant/a.png" } }])],
    ["generate_content", parts({ fileData: { mimeType: "image/png", fileUri: "gs://b/a.png" } })],
    [
      "generate_content",
      parts({
        fileData: {
          mimeType: "image/png",
          fileUri: "https://generativelanguage.googleapis.com/v1beta/files/abc-123",
        },
      }),
    ],
    ["generate_content", parts({ fileData: { mimeType: "image/png", fileUri: "files/abc-123" } })],
    // The arguments of a tool call are text.
    [
      "messages",
      {
        messages: [
          { role: "user", content: "Look at file:///etc/passwd" },
          {
            role: "assistant",
            content: [{ ...use, input: { image_url: "http://localhost:3000" } }],
          },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "up" }] },
        ],
      },
    ],
    [
      "generate_content",
      parts({ functionResponse: { name: "f", response: { fileUri: "file:///tmp/a" } } }),
    ],
    // The schemas of tools are text.
    [
      "chat",
      { tools: [{ type: "function", function: { name: "f", parameters: schemaWithAddress } }] },
    ],
    [
      "generate_content",
      {
        tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: schemaWithAddress }] }],
      },
    ],
    // The text of a document may begin with any word.
    [
      "messages",
      user([
        {
          type: "document",
          source: { type: "text", media_type: "text/plain", data: "file: a report" },
        },
      ]),
    ],
  ] as const)(
    "passes on a direct route if no fetch into our networks results from it (%s, %#)",
    async (from, body) => {
      const { status, up } = await world.send(from, from, body);
      expect(status).toBe(200);
      expect(up).toMatchObject(body);
    },
  );

  it("may be private where the operator allows it, but never a file", async () => {
    const gateway = await startTestGateway({
      environment: { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on" },
    });
    try {
      const send = async (url: string) =>
        (
          await gateway.post("/v1/chat/completions", {
            model: "sandbox/chat",
            ...user([
              { type: "image_url", image_url: { url } },
              { type: "text", text: "Hi" },
            ]),
          })
        ).status;
      expect(await send("http://10.0.0.1/a.png")).toBe(200);
      expect(await send("file:///etc/passwd")).toBe(400);
    } finally {
      await gateway.close();
    }
  });

  it("T77: is located in the error in few words, even with very long field names", async () => {
    const image = { type: "image_url", image_url: { url: "file:///etc/passwd" } };
    const body = user([{ type: "text", text: "Hi", ["k".repeat(1_000_000)]: [image] }]);
    const { status, answer } = await world.send("chat", "chat", body);
    expect(status).toBe(400);
    expect(JSON.stringify(answer).length).toBeLessThan(1000);
  });

  it("T77: is found in linear time among many", async () => {
    const content = Array.from({ length: 200_000 }, () => ({ type: "image_url", image_url: "x" }));
    let found = 0;
    const findAll = () =>
      (found = addressesIn("chat", { messages: [{ role: "user", content }] }).length);
    expect(await costMs(findAll)).toBeLessThan(2_000);
    expect(found).toBe(200_000);
  });
});
