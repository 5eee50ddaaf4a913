/** Names of keys, models and end users, which outsiders choose, cannot control the terminal of the operator who lists them. */
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { printableJson, printableLines, printableText } from "../../src/base/printable.ts";
import { tollgateHere } from "../support/command.ts";

/** Fills the clipboard, hides the text above, begins a new row, and reverses the text after it. */
const evil = "\u001b]52;c;cm0gLXJm\u0007\u001b[2J\nkey_ok  fine\u009b31m\u202e\r";
/** No control character except line ends. */
const plain = /^[^\p{Cc}\u202e]*$/u;

let gateway: Server;
let environment: Record<string, string>;

const row = {
  id: "req_1",
  created_at: "2026-11-26T14:00:00.000Z",
  key_id: "key_1",
  key_name: evil,
  model: evil,
  end_user: evil,
  tags: { [evil]: evil },
  status: "failed",
  cost: "0",
  duration_ms: 1,
  error: { code: "upstream_rejected", message: evil, meaning: null },
  attempts: [{ provider: "openai", outcome: "upstream_rejected", message: evil }],
  changes: [],
  price_lines: null,
  reserved: null,
};

beforeAll(async () => {
  gateway = createServer((request, response) => {
    const path = request.url!.slice("/admin/v1".length).split("?")[0]!;
    const refusal = { error: { message: `no ${evil}`, code: "not_found" } };
    const answers: Readonly<Record<string, object>> = {
      "/requests": { data: [{ ...row, error: evil }], has_more: false, next_cursor: null },
      "/requests/req_1": row,
    };
    const answer = answers[path];
    response.writeHead(answer === undefined ? 409 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? refusal));
  }).listen(0, "127.0.0.1");
  await once(gateway, "listening");
  environment = { TOLLGATE_ADMIN_TOKEN: "token" };
});
afterAll(() => gateway.close());

const url = (): string => `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
const lines = (text: string): string[] => text.split("\n");

describe("the output of a command", () => {
  it.each([
    ["a table", ["requests", "list"], 3],
    ["a call", ["requests", "show", "req_1"], 21],
  ])("for %s has one line for each row, and no control sequences", async (_what, words, count) => {
    const { code, stdout } = await tollgateHere([...words, "--url", url()], environment);
    expect(code).toBe(0);
    expect(stdout).toContain(
      String.raw`\u001b]52;c;cm0gLXJm\u0007\u001b[2J\nkey_ok  fine\u009b31m\u202e`,
    );
    expect(lines(stdout).filter((line) => !plain.test(line))).toEqual([]);
    expect(lines(stdout).length).toBeLessThanOrEqual(count);
  });

  it("as JSON has the same values, and no control sequences", async () => {
    const { stdout } = await tollgateHere(
      ["requests", "list", "--json", "--url", url()],
      environment,
    );
    expect(lines(stdout).filter((line) => !plain.test(line))).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({
      data: [{ key_name: evil, tags: { [evil]: evil } }],
    });
  });

  it("for a refusal has its text, and no control sequences", async () => {
    const { code, stderr } = await tollgateHere(["usage", "--url", url()], environment);
    expect(code).toBe(1);
    expect(stderr).toContain(String.raw`no \u001b]52`);
    expect(lines(stderr).filter((line) => !plain.test(line))).toEqual([]);
  });
});

it("printed text keeps letters of all languages, emoji and joiners unchanged", () => {
  const text = "Größe 模型 नमस्ते \u200d👩‍👧 a\u0301";
  expect([printableText(text), printableLines(text), printableJson(text)]).toEqual([
    text,
    text,
    text,
  ]);
});
