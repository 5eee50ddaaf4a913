/** Valid JSON with hostile values: names that are special in JavaScript, invalid texts, invalid numbers. */
import { describe, expect, it } from "vitest";
import { entries, readAnswer, useWorld, type Entry } from "./support.ts";

const world = useWorld();
const eachEntry = describe.each(entries.map((entry) => [entry.name, entry] as const));

/** A body with `text` instead of the greeting. */
const bodyWithText = (entry: Entry, text: string): string =>
  JSON.stringify(entry.good).replace('"Hi"', () => text);

/** A body with another member at its end, unescaped. */
const withMember = (entry: Entry, member: string): string =>
  JSON.stringify(entry.good).replace(/\}$/, () => `,${member}}`);

const inherited = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

eachEntry("%s", (_name, entry) => {
  it.each([
    ["a NUL", "\\u0000"],
    ["half a surrogate pair", "\\ud800"],
    ["a surrogate pair in the wrong order", "\\udc00\\ud800"],
    ["line separators", "\\u2028\\u2029"],
    ["a byte order mark", "\\ufeff"],
    ["CR and LF", "a\\r\\nX-Evil: 1\\r\\n\\r\\n"],
    ["a special token", "<|endoftext|><|im_start|>"],
    ["right-to-left marks", "\\u202e"],
  ])("%s in a text is passed on unchanged", async (_what, text) => {
    const response = await world.gateway.post(entry.path, bodyWithText(entry, `"${text}"`));
    expect(response.status).toBe(200);
    expect(JSON.stringify(world.upstream.requests.at(-1)!.body)).toContain(
      JSON.stringify(JSON.parse(`"${text}"`)),
    );
  });

  it.each(inherited)(
    "a member named %s is treated as a plain member and pollutes no prototype",
    async (name) => {
      const response = await world.gateway.post(
        entry.path,
        withMember(entry, `"${name}":{"polluted":true,"model":"evil/model","stream":true}`),
      );
      expect([200, 400]).toContain(response.status);
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      expect(response.headers.get("content-type")).toContain("application/json");
      expect(await response.text()).not.toContain("evil/model");
    },
  );

  it.each(inherited)("%s as a role or as another closed word is refused with 400", async (name) => {
    for (const body of wrongWords(entry, name)) {
      const response = await world.unharmed(() => world.gateway.post(entry.path, body));
      expect({ body, status: (await readAnswer(entry, response)).status }).toEqual({
        body,
        status: 400,
      });
    }
  });

  it.each(inherited)(
    "%s as an unknown type of content or tool is passed to the upstream",
    async (name) => {
      for (const body of newKinds(entry, name)) {
        const response = await world.gateway.post(entry.path, body);
        expect({ body, status: response.status }).toEqual({ body, status: 200 });
        expect(world.upstream.requests.at(-1)!.text).toContain(`"type":"${name}"`);
      }
    },
  );

  it("tool parameters with such names reach the upstream unchanged", async () => {
    const schema = `{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["__proto__"]}`;
    const tools = {
      chat: `"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]`,
      responses: `"tools":[{"type":"function","name":"f","parameters":${schema}}]`,
      messages: `"tools":[{"name":"f","input_schema":${schema}}]`,
      generate_content: `"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${schema}}]}]`,
    }[entry.name];
    const response = await world.gateway.post(entry.path, withMember(entry, tools));
    expect(await response.text()).toContain("Hello");
    expect(world.upstream.requests.at(-1)!.text).toContain(schema);
  });

  it("gateway and upstream both use the last value of a key that stands twice", async () => {
    const twice = JSON.stringify(entry.good).replace(
      "{",
      '{"model":"evil/model","stream":true,"stream":false,',
    );
    const response = await world.gateway.post(entry.path, twice);
    expect(response.status).toBe(200);
    const { text } = world.upstream.requests.at(-1)!;
    expect(text).not.toContain("evil/model");
    expect(text).not.toContain("true");
  });

  it.each(["1e400", "-1e400", "1e308", "9007199254740993", "0.1", "-0", "-1", "1e9"])(
    "numbers like %s in fields that affect the price never overflow",
    async (number) => {
      const members = {
        chat: [`"max_tokens":${number}`, `"max_completion_tokens":${number}`, `"n":${number}`],
        responses: [`"max_output_tokens":${number}`],
        messages: [`"max_tokens":${number}`],
        generate_content: [
          `"generationConfig":{"maxOutputTokens":${number}}`,
          `"generationConfig":{"candidateCount":${number}}`,
        ],
      }[entry.name];
      for (const member of members) {
        const response = await world.gateway.post(entry.path, withMember(entry, member));
        const text = await response.text();
        expect(`${member} ${response.status} ${text}`).toMatch(/ (200 .*Hello|400 |402 )/s);
      }
      const { ledger, workspaceId } = world.gateway;
      await expect.poll(async () => (await ledger.balance(workspaceId)).heldNano).toBe(0n);
    },
  );

  it("TXT-15: the header of dropped parameters is one ASCII line, whatever names the body has", async () => {
    if (entry.name === "generate_content") return;
    const names = ["\\r\\nSet-Cookie: a=b", "\\u0000", "\\ud800", "naïve", ", ", "x".repeat(9_000)];
    const member = names.map((name) => `"${name}":1`).join(",");
    const response = await world.gateway.post(
      entry.path,
      withMember(entry, `${member},"stream":true,"service_tier":"flex"`),
    );
    await response.text();
    const header = response.headers.get("x-gw-dropped-params") ?? "";
    expect(header).toContain("service_tier");
    expect(header).toMatch(/^[\x20-\x7e]{1,4096}$/);
    expect(response.headers.get("set-cookie")).toBeNull();
  });
});

/** Bodies in which one word that must come from a closed set is `name`. */
function wrongWords(entry: Entry, name: string): object[] {
  switch (entry.name) {
    case "chat":
      return [
        { ...entry.good, messages: [{ role: name, content: "Hi" }] },
        { ...entry.good, verbosity: name },
      ];
    case "responses":
      return [
        { ...entry.good, input: [{ role: name, content: "Hi" }] },
        { ...entry.good, truncation: name },
      ];
    case "messages":
      return [{ ...entry.good, messages: [{ role: name, content: "Hi" }] }];
    case "generate_content":
      return [{ ...entry.good, contents: [{ role: name, parts: [{ text: "Hi" }] }] }];
  }
}

/** Bodies with an unknown kind of content or tool: direct routes leave those to the vendor. */
function newKinds(entry: Entry, name: string): object[] {
  const content = [{ role: "user", content: [{ type: name, text: "Hi" }] }];
  switch (entry.name) {
    case "chat":
      return [
        { ...entry.good, messages: content },
        { ...entry.good, tools: [{ type: name, function: { name: "f" } }] },
      ];
    case "responses":
      return [
        { ...entry.good, input: content },
        { ...entry.good, tools: [{ type: name }] },
      ];
    case "messages":
      return [
        { ...entry.good, messages: content },
        { ...entry.good, tools: [{ type: name, name: "f" }] },
      ];
    case "generate_content":
      return [];
  }
}

describe("models and paths", () => {
  const ids: [name: string, id: string][] = [
    ["an unknown model", "acme/unknown"],
    ["no vendor", "talk"],
    ["a path to a parent folder", "../../admin"],
    ["a path to a parent folder inside", "acme/../../../v1/files"],
    ["a query", "acme/talk?x=1"],
    ["a fragment", "acme/talk#x"],
    ["a NUL", "acme/talk\0"],
    ["CR and LF", "acme/talk\r\nX-Evil 1"],
    ["half a surrogate pair", "acme/talk\ud800"],
    ["an encoded slash", "acme%2Ftalk"],
    ["white space around", " acme/talk "],
    ["other case", "ACME/TALK"],
    ["an inherited name", "__proto__"],
    ["another inherited name", "constructor"],
    ["100 KB", "a/".concat("b".repeat(100_000))],
  ];

  it.each(ids)(
    "%s as model: 404 model_not_found, and no upstream is called",
    async (_what, model) => {
      for (const entry of entries.slice(0, 3)) {
        const response = await world.unharmed(() =>
          world.gateway.post(entry.path, { ...entry.good, model }),
        );
        expect(await readAnswer(entry, response)).toMatchObject({
          status: 404,
          code: "model_not_found",
        });
      }
    },
  );

  it.each([
    "",
    ":",
    "::",
    "acme/talk:",
    "acme/talk:@",
    "acme/talk:@price:chat",
    "acme/talk:a:b",
    "acme/talk:@dance",
  ])("the model id %j: 400 or 404", async (model) => {
    for (const entry of entries.slice(0, 3)) {
      const response = await world.unharmed(() =>
        world.gateway.post(entry.path, { ...entry.good, model }),
      );
      const { status, code } = await readAnswer(entry, response);
      expect(`${status} ${code}`).toMatch(/^(400 invalid_|400 missing_|404 model_not_found)/);
    }
  });

  const google = entries[3]!;
  it.each([
    ["/v1beta/models/%zz:generateContent", 400, "malformed_request"],
    ["/v1beta/models/%ff:generateContent", 400, "malformed_request"],
    ["/v1beta/models/%:generateContent", 400, "malformed_request"],
    ["/v1beta/models/acme/talk%00:generateContent", 404, "model_not_found"],
    ["/v1beta/models/..%2f..%2fadmin:generateContent", 404, "model_not_found"],
    ["/v1beta/models/acme%2ftalk%3fx:generateContent", 404, "model_not_found"],
    ["/v1beta/models/acme%2ftalk%23:generateContent", 404, "model_not_found"],
    ["/v1beta/models/acme/talk%0d%0aX-Evil%201:generateContent", 404, "model_not_found"],
    ["/v1beta/models/:generateContent", 404, "not_found"],
    ["/v1beta/models/acme/talk", 404, "not_found"],
    ["/v1beta/models/acme/talk:deleteEverything", 404, "not_found"],
    [`/v1beta/models/acme/${"x".repeat(5_000)}:generateContent`, 404, "model_not_found"],
  ])("%s is answered %s %s", async (path, status, code) => {
    const response = await world.unharmed(() => world.gateway.post(path, google.good));
    expect(await readAnswer(google, response)).toMatchObject({ status, code });
  });

  it("an encoded slash in a generateContent path is read as the slash of the model id", async () => {
    const path = "/v1beta/models/acme%2Ftalk:generateContent";
    const response = await world.gateway.post(path, google.good);
    expect(response.status).toBe(200);
    expect(world.upstream.requests.at(-1)!.path).toBe(
      "/generate_content/models/up:generateContent",
    );
  });

  it("the upstream was called only at the four configured paths", () => {
    expect([...new Set(world.upstream.requests.map(({ path }) => path))].sort()).toEqual([
      "/chat/chat/completions",
      "/generate_content/models/up:generateContent",
      "/messages/messages",
      "/responses/responses",
    ]);
  });

  it("TXT-12 TXT-13: a model that does not offer the endpoint: 400 unsupported_protocol", async () => {
    for (const entry of entries.slice(1)) {
      const path = entry.path.replace("acme/talk", "acme/chat-only");
      const response = await world.unharmed(() =>
        world.gateway.post(path, { ...entry.good, model: "acme/chat-only" }),
      );
      expect(await readAnswer(entry, response)).toMatchObject({
        status: 400,
        code: "unsupported_protocol",
      });
    }
  });

  it("a direct route passes on no cookies, forwarded addresses or caller credentials with the allowed headers", async () => {
    const messages = entries[2]!;
    const response = await world.gateway.post(messages.path, messages.good, {
      "anthropic-version": "2023-06-01, x",
      "anthropic-beta": "a\u00e9b",
      "x-forwarded-for": "1.2.3.4",
      cookie: "session=1",
    });
    expect(response.status).toBe(200);
    const { headers } = world.upstream.requests.at(-1)!;
    expect(headers["x-api-key"]).toBe("vendor-secret-messages");
    expect(headers).not.toHaveProperty("x-forwarded-for");
    expect(headers).not.toHaveProperty("cookie");
    expect(headers).not.toHaveProperty("authorization");
  });
});
