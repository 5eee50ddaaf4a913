/** The text endpoints answer alike under every spelling of their paths, on both front ends. TXT-01 to TXT-04. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

const messages = [{ role: "user", content: "Hello" }];
const endpoints: readonly (readonly [string, object])[] = [
  ["/v1/chat/completions", { model: "sandbox/chat", messages }],
  ["/v1/messages", { model: "sandbox/chat", messages, max_tokens: 50 }],
  ["/v1/responses", { model: "sandbox/chat", input: "Hello" }],
  ["/v1beta/models/sandbox/chat:generateContent", { contents: [{ parts: [{ text: "Hello" }] }] }],
];

/** Spellings of one path. */
const spellings = (path: string): readonly string[] => [
  path,
  `${path}?a=b`,
  // The last "s" as an escape.
  path.replace(/s(?=[^s]*$)/, "%73"),
];

describe.each([
  ["the fast path", true],
  ["Node's HTTP", false],
])("the text endpoints on %s", (_name, fastPath) => {
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    gateway = await startTestGateway({ fastPath });
  });
  afterAll(() => gateway.close());

  async function post(path: string, body: string, headers: Record<string, string> = {}) {
    const response = await fetch(gateway.url + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.key}`,
        "content-type": "application/json",
        ...headers,
      },
      body,
    });
    await response.text();
    return { status: response.status, id: response.headers.get("x-request-id") };
  }

  describe.each(endpoints)("POST %s", (path, body) => {
    it.each(spellings(path))("answers under %s", async (spelling) => {
      const { status, id } = await post(spelling, JSON.stringify(body));
      expect(status).toBe(200);
      expect(id).toMatch(/^req_[0-9a-z]{26}$/);
    });

    it.each(spellings(path))("refuses under %s with the same statuses", async (spelling) => {
      const statusOf = async (...sent: Parameters<typeof post>): Promise<number> =>
        (await post(...sent)).status;
      const text = JSON.stringify(body);
      expect(await statusOf(spelling, text, { authorization: "Bearer wrong" })).toBe(401);
      expect(await statusOf(spelling, text, { "content-type": "text/plain" })).toBe(415);
      expect(await statusOf(spelling, "{")).toBe(400);
      expect(await statusOf(spelling, "")).toBe(400);
    });
  });

  // An escaped slash never separates path segments, but is a normal character of a model's name.
  it.each([
    ["/v1/chat%2Fcompletions", 404],
    ["/v1%2Fmessages", 404],
    ["/v1/messages/", 404],
    ["/v1/models/sandbox%2Fchat:generateContent", 200],
    ["/v1beta/models/sandbox%2Fchat%3AgenerateContent", 200],
    ["/v1beta/models/sandbox/chat:count%54okens", 200],
    ["/v1beta/models/sandbox/chat%:generateContent", 400],
  ])("answer POST %s with %i", async (path, expected) => {
    const contents = [{ role: "user", parts: [{ text: "Hello" }] }];
    const { status } = await post(path, JSON.stringify({ contents }));
    expect(status).toBe(expected);
  });
});
