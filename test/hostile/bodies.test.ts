/** Bodies, keys and addresses that no honest client sends, on all four text endpoints. */
import { request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { generateKey } from "../../src/tenancy/key-format.ts";
import { entries, readAnswer, useWorld, type Entry, type ErrorAnswer } from "./support.ts";

const world = useWorld();

const eachEntry = describe.each(entries.map((entry) => [entry.name, entry] as const));

/** Posts a body that must be refused without side effects. */
async function refusal(
  entry: Entry,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<ErrorAnswer> {
  const response = await world.unharmed(() => world.gateway.post(entry.path, body, headers));
  return readAnswer(entry, response);
}

eachEntry("%s: bodies", (_name, entry) => {
  const goodText = JSON.stringify(entry.good);
  const utf8 = (text: string): Buffer => Buffer.from(text, "utf8");
  const notJson: [name: string, body: string | Uint8Array][] = [
    ["nothing", ""],
    ["white space", " \n "],
    ["a cut object", goodText.slice(0, -1)],
    ["two objects", goodText + goodText],
    ["a trailing comma", goodText.replace(/\}$/, ",}")],
    ["single quotes", goodText.replaceAll('"', "'")],
    ["a comment", `/* hi */${goodText}`],
    ["NaN", goodText.replace(/\}$/, ',"temperature":NaN}')],
    ["null", "null"],
    ["true", "true"],
    ["a number", "42"],
    ["a string", '"hello"'],
    ["an array", `[${goodText}]`],
    ["10,000 arrays deep", '{"a":'.concat("[".repeat(10_000), "]".repeat(10_000), "}")],
    ["10,000 objects deep", '{"a":'.repeat(10_000).concat("1", "}".repeat(10_000))],
    ["10,000 brackets never closed", "[".repeat(10_000)],
    ["invalid UTF-8", Buffer.concat([utf8('{"a":"'), Buffer.of(0xff, 0xfe), utf8('"}')])],
    ["an overlong encoding", Buffer.concat([utf8('{"a":"'), Buffer.of(0xc0, 0xaf), utf8('"}')])],
    [
      "an encoded surrogate",
      Buffer.concat([utf8('{"a":"'), Buffer.of(0xed, 0xa0, 0x80), utf8('"}')]),
    ],
    ["UTF-16", Buffer.from(goodText, "utf16le")],
    ["a raw NUL", goodText.replace("Hi", "\0")],
    ["gzip without Content-Encoding", Buffer.from("H4sIAAAAAAAAA6uuBQBDv6ajAgAAAA==", "base64")],
  ];

  it.each(notJson)("%s: 400 invalid_json", async (_what, body) => {
    expect(await refusal(entry, body)).toEqual({ status: 400, code: "invalid_json", param: null });
  });

  it.each([
    "text/plain",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "json",
    "a/b/c",
    ";",
    "application/json2",
  ])("content type %s: 415 unsupported_media_type", async (type) => {
    expect(await refusal(entry, goodText, { "content-type": type })).toMatchObject({
      status: 415,
      code: "unsupported_media_type",
    });
  });

  it.each(["application/json", "Application/JSON; charset=utf-8", "application/vnd.api+json"])(
    "content type %s is accepted",
    async (type) => {
      const response = await world.gateway.post(entry.path, goodText, { "content-type": type });
      expect(response.status).toBe(200);
    },
  );

  it.each(["PUT", "PATCH", "DELETE", "OPTIONS"])(
    "%s: 405 method_not_allowed, with the allowed methods",
    async (method) => {
      const response = await world.unharmed(() =>
        fetch(world.gateway.url + entry.path, {
          method,
          body: method === "OPTIONS" ? null : goodText,
        }),
      );
      expect(response.headers.get("allow")).toContain("POST");
      expect((await readAnswer(entry, response)).code).toBe("method_not_allowed");
      expect(response.status).toBe(405);
    },
  );

  it("an unknown path under it: 404 not_found in the protocol's own error shape", async () => {
    const path = entry.path.replace(":generateContent", ":dance").replace(/([a-z])$/, "$1/nowhere");
    const response = await world.unharmed(() => world.gateway.post(path, entry.good));
    expect(await readAnswer(entry, response)).toMatchObject({ status: 404, code: "not_found" });
  });

  it("a body announced with 100 MB: 413 request_too_large before any of it is read", async () => {
    const response = await world.unharmed(() => announce(entry, 100_000_000));
    expect(response).toBe(413);
  });

  it("a body of 100 MB in chunks: 413 request_too_large", async () => {
    const megabyte = new Uint8Array(1_000_000).fill(97);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        if (sent > 100) controller.close();
        else controller.enqueue(sent === 1 ? utf8('{"model":"acme/talk","a":"') : megabyte);
      },
    });
    const response = await world.unharmed(() =>
      fetch(world.gateway.url + entry.path, {
        method: "POST",
        duplex: "half",
        headers: {
          authorization: `Bearer ${world.gateway.key}`,
          "content-type": "application/json",
        },
        body,
      }),
    );
    expect(await readAnswer(entry, response)).toMatchObject({
      status: 413,
      code: "request_too_large",
    });
  });

  it("AUTH-02: the body of a request without a key is not read", async () => {
    const response = await world.unharmed(() =>
      fetch(world.gateway.url + entry.path, { method: "POST", body: "not json" }),
    );
    expect(await readAnswer(entry, response)).toMatchObject({
      status: 401,
      code: "missing_api_key",
    });
  });
});

/** Announces a body of this length and never sends it; resolves with the status. */
function announce(entry: Entry, length: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(world.gateway.url + entry.path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${world.gateway.key}`,
        "content-type": "application/json",
        "content-length": length,
      },
    });
    request.on("response", (response) => {
      resolve(response.statusCode!);
      request.destroy();
    });
    request.on("error", reject);
    request.flushHeaders();
  });
}

eachEntry("%s: known fields with wrong JSON types", (_name, entry) => {
  const samples: Record<string, unknown> = {
    string: "text",
    number: 1.5,
    boolean: true,
    array: [],
    object: {},
  };
  const known: Record<Entry["name"], Record<string, string[]>> = {
    chat: {
      model: ["string"],
      messages: ["array"],
      stream: ["boolean"],
      max_tokens: ["integer"],
      max_completion_tokens: ["integer"],
      temperature: ["number"],
      top_p: ["number"],
      n: ["integer"],
      seed: ["integer"],
      presence_penalty: ["number"],
      frequency_penalty: ["number"],
      logprobs: ["boolean"],
      top_logprobs: ["integer"],
      parallel_tool_calls: ["boolean"],
      tools: ["array"],
      tool_choice: ["string", "object"],
      response_format: ["object"],
      stop: ["string", "array"],
      user: ["string"],
      logit_bias: ["object"],
      metadata: ["object"],
      stream_options: ["object"],
      reasoning_effort: ["string"],
      verbosity: ["string"],
      prompt_cache_key: ["string"],
      safety_identifier: ["string"],
      store: ["boolean"],
    },
    responses: {
      model: ["string"],
      input: ["string", "array"],
      stream: ["boolean"],
      instructions: ["string"],
      max_output_tokens: ["integer"],
      temperature: ["number"],
      top_p: ["number"],
      tools: ["array"],
      tool_choice: ["string", "object"],
      parallel_tool_calls: ["boolean"],
      text: ["object"],
      reasoning: ["object"],
      include: ["array"],
      truncation: ["string"],
      metadata: ["object"],
      store: ["boolean"],
      user: ["string"],
      prompt_cache_key: ["string"],
      stream_options: ["object"],
      top_logprobs: ["integer"],
      max_tool_calls: ["integer"],
      safety_identifier: ["string"],
    },
    messages: {
      model: ["string"],
      messages: ["array"],
      max_tokens: ["integer"],
      stream: ["boolean"],
      system: ["string", "array"],
      temperature: ["number"],
      top_p: ["number"],
      top_k: ["integer"],
      stop_sequences: ["array"],
      tools: ["array"],
      tool_choice: ["object"],
      thinking: ["object"],
      metadata: ["object"],
    },
    generate_content: {
      // A single object stands for a list of it.
      contents: ["array", "object"],
      systemInstruction: ["object", "string"],
      tools: ["array", "object"],
      toolConfig: ["object"],
      generationConfig: ["object"],
      safetySettings: ["array", "object"],
    },
  };
  const table = Object.entries(known[entry.name]).flatMap(([field, types]) =>
    Object.entries(samples)
      .filter(([type]) => !types.includes(type) && !(type === "number" && types.includes("number")))
      .map(([type, sample]) => [field, type, sample] as const),
  );

  it("ERR-05: each known field with a wrong type is refused with 400 and named; nothing is sent or reserved", async () => {
    const wrong: string[] = [];
    await world.unharmed(async () => {
      for (const [field, type, sample] of table) {
        const body = { ...entry.good, [field]: sample };
        const { status, code, param } = await readAnswer(
          entry,
          await world.gateway.post(entry.path, body),
        );
        const fine =
          status === 400 &&
          (code === "invalid_type" || code === "invalid_value") &&
          String(param).startsWith(field);
        if (!fine) wrong.push(`${field}: a ${type} is answered ${status} ${code} ${param}`);
      }
    });
    expect(wrong).toEqual([]);
  });
});

eachEntry("%s: keys", (_name, entry) => {
  const good = (): string => world.gateway.key;
  const flip = (key: string): string => key.slice(0, -1) + (key.endsWith("a") ? "b" : "a");
  const wrong: [name: string, headers: () => Record<string, string>][] = [
    ["a wrong checksum", () => ({ authorization: `Bearer ${flip(good())}` })],
    ["a stranger's key", () => ({ authorization: `Bearer ${generateKey()}` })],
    ["10 KB", () => ({ authorization: `Bearer ${"k".repeat(10_000)}` })],
    [
      "a tab inside",
      () => ({ authorization: `Bearer ${good().slice(0, 20)}\t${good().slice(20)}` }),
    ],
    ["a byte above ASCII", () => ({ authorization: `Bearer ${good()}\u00e9` })],
    ["upper case", () => ({ authorization: `Bearer ${good().toUpperCase()}` })],
    ["two keys in one header", () => ({ authorization: `Bearer ${good()}, Bearer ${good()}` })],
    [
      "two different keys",
      () => ({ authorization: `Bearer ${good()}`, "x-api-key": generateKey() }),
    ],
    ["SQL", () => ({ authorization: "Bearer ' or 1=1 --" })],
  ];

  it.each(wrong)("AUTH-03: %s: 401 invalid_api_key", async (_what, headers) => {
    const response = await world.unharmed(() =>
      fetch(world.gateway.url + entry.path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers() },
        body: JSON.stringify(entry.good),
      }),
    );
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await readAnswer(entry, response)).toMatchObject({
      status: 401,
      code: "invalid_api_key",
    });
  });
});

describe("keys in the query", () => {
  it("`?key=` is accepted on /v1beta only", async () => {
    const query = `?key=${world.gateway.key}`;
    const call = (entry: Entry) =>
      fetch(world.gateway.url + entry.path + query, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(entry.good),
      });
    const answered = await Promise.all(entries.map(async (entry) => (await call(entry)).status));
    expect(answered).toEqual([401, 401, 401, 200]);
  });
});
