/** Tags and end users, by which callers label their calls. docs/tags.md. */
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/patience.ts";
import { chat, eachProtocol, generateContent, messages, responses } from "./protocols.ts";
import { answering, costAtFirstNano, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

interface Tagged {
  readonly id: string;
  readonly tags: Record<string, string> | null;
  readonly end_user: string | null;
  readonly cost_nano: bigint;
}
const rowOf = async (answer: Response) => (await world.row(answer)) as unknown as Tagged;
const upstreamRequests = () => [...world.first.requests, ...world.second.requests];
/** A header's bytes as a client sends them. */
const bytesOf = (text: string) => Buffer.from(text, "utf8").toString("latin1");

describe("tags and end users in headers", () => {
  it.each(eachProtocol)(
    "are stored with the call at the same price, and not sent to the vendor (%s)",
    async (_name, protocol) => {
      for (const stream of [false, true]) {
        const headers = { "x-gw-metadata": '{"team":"search","run":"7"}', "x-gw-end-user": "u-1" };
        const model = `${protocol.model}:@price`;
        const answer = await world.call(protocol, { model, stream, headers });
        expect(answer.status).toBe(200);
        await answer.text();
        const row = await rowOf(answer);
        expect(row).toMatchObject({ tags: { team: "search", run: "7" }, end_user: "u-1" });
        expect(row.cost_nano).toBe(costAtFirstNano);
        const asked = upstreamRequests().at(-1)!;
        expect(Object.keys(asked.headers).join(" ")).not.toMatch(/x-gw/);
        expect(JSON.stringify(asked.body)).not.toContain("search");
      }
      const plain = await world.call(protocol);
      await plain.text();
      expect(await rowOf(plain)).toMatchObject({ tags: null, end_user: null });
    },
  );

  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`n${index}`, "v"]));
  const bad: readonly (readonly [string, Record<string, string>])[] = [
    ["no JSON", { "x-gw-metadata": "team=search" }],
    ["a list", { "x-gw-metadata": '["team"]' }],
    ["a text", { "x-gw-metadata": '"team"' }],
    ["null", { "x-gw-metadata": "null" }],
    ["a number for a value", { "x-gw-metadata": '{"team":7}' }],
    ["an object for a value", { "x-gw-metadata": '{"__proto__":{"polluted":"yes"}}' }],
    ["an empty name", { "x-gw-metadata": '{"":"x"}' }],
    ["a name with U+0000", { "x-gw-metadata": '{"\\u0000":"x"}' }],
    ["a name with half a pair", { "x-gw-metadata": '{"\\ud800":"x"}' }],
    ["a long name", { "x-gw-metadata": JSON.stringify({ ["n".repeat(65)]: "x" }) }],
    ["a long value", { "x-gw-metadata": JSON.stringify({ n: "x".repeat(513) }) }],
    ["too many pairs", { "x-gw-metadata": JSON.stringify(many) }],
    ["bytes that are no UTF-8", { "x-gw-metadata": '{"team":"\xe4"}' }],
    ["deep nesting", { "x-gw-metadata": "[".repeat(3_000) }],
    ["a long end user", { "x-gw-end-user": "u".repeat(257) }],
    ["an end user that is no UTF-8", { "x-gw-end-user": "\xe4" }],
  ];
  it.each(eachProtocol)(
    "are refused in the caller's protocol if invalid, with the name of the header and the fix, and cost nothing (%s)",
    async (_name, protocol) => {
      const ledger = () => world.gateway.database.query("select entry from ledger_entries");
      const before = await ledger();
      for (const [what, headers] of bad) {
        const answer = await world.call(protocol, { headers });
        const { error } = (await answer.json()) as { error: { message: string } };
        const { status } = answer;
        const message = expect.stringMatching(
          `^The header ${Object.keys(headers)[0]!} .*(such as \\{"team":"search"\\}|send an id or a hash)`,
        ) as unknown;
        expect({ what, status, message: error.message }).toEqual({ what, status: 400, message });
      }
      expect(upstreamRequests()).toEqual([]);
      expect(await ledger()).toEqual(before);
      expect(await world.gateway.database.query("select id from ledger_holds")).toEqual([]);
      expect(({} as { polluted?: string }).polluted).toBeUndefined();
    },
  );

  it("are refused if the header comes twice", async () => {
    const url = new URL(chat.path(chat.model, false), world.gateway.url);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${world.gateway.key}`,
        "content-type": "application/json",
        "x-gw-metadata": ['{"a":"1"}', '{"b":"2"}'],
      };
      const asked = httpRequest(url, { method: "POST", headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on("error", reject);
      asked.end(JSON.stringify(chat.body(chat.model, false)));
    });
    expect(status).toBe(400);
  });

  it("are stored as they were sent, with hostile values too, except characters that a database cannot store", async () => {
    const tags = {
      "<script>alert(1)</script>": "'; drop table requests; --",
      constructor: "prototype",
      "naïve 名": "🙂 ‮right to left",
      "=cmd|' /C calc'!A0": '"quoted"\\ %s \u0007\n\t',
      "a:b": "c:d",
    };
    const metadata = `${JSON.stringify(tags).slice(0, -1)},"__proto__":"own","nul":"\\u0000","half":"\\ud800"}`;
    const endUser = "<b>Zoë</b>";
    const answer = await world.call(chat, {
      headers: { "x-gw-metadata": bytesOf(metadata), "x-gw-end-user": bytesOf(endUser) },
    });
    expect(answer.status).toBe(200);
    await answer.text();
    const row = await rowOf(answer);
    expect(row.tags).toMatchObject(tags);
    expect(Object.entries(row.tags!)).toContainEqual(["__proto__", "own"]);
    // A text column cannot hold these characters.
    expect(row.tags).toMatchObject({ nul: "\ufffd", half: "\ufffd" });
    expect(row.end_user).toBe(endUser);
  });
});

describe("tags and end users in fields of the body", () => {
  const cases = [
    {
      protocol: chat,
      extra: { metadata: { team: "a" }, user: "u", safety_identifier: "s" },
      kept: { tags: { team: "a" }, end_user: "s" },
    },
    { protocol: chat, extra: { user: "u" }, kept: { tags: null, end_user: "u" } },
    {
      protocol: responses,
      extra: { metadata: { team: "b" }, user: "u" },
      kept: { tags: { team: "b" }, end_user: "u" },
    },
    {
      protocol: messages,
      extra: { metadata: { user_id: "m" } },
      kept: { tags: null, end_user: "m" },
    },
    {
      protocol: generateContent,
      extra: { labels: { team: "d" } },
      kept: { tags: { team: "d" }, end_user: null },
    },
  ];
  it.each(
    cases.map((one) => [`${one.protocol.name} ${Object.keys(one.extra).join(", ")}`, one] as const),
  )("%s: are stored, and reach the vendor unchanged", async (_name, { protocol, extra, kept }) => {
    const answer = await world.call(protocol, { extra });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(await rowOf(answer)).toMatchObject(kept);
    expect(upstreamRequests()[0]!.body).toMatchObject(extra);
  });

  it("are overridden by headers, tag by tag; values that are not short texts are not stored", async () => {
    const answer = await world.call(responses, {
      extra: {
        metadata: {
          team: "body",
          run: "7",
          long: "x".repeat(513),
          number: 7,
          nested: { a: "b" },
          "\0": "x",
        },
        user: "body",
      },
      headers: { "x-gw-metadata": '{"team":"header"}', "x-gw-end-user": "header" },
    });
    expect(answer.status).toBe(200);
    await answer.text();
    const row = await rowOf(answer);
    expect(row).toMatchObject({ end_user: "header" });
    expect(row.tags).toEqual({ team: "header", run: "7" });
  });
});

describe("tags and end users in the management API", () => {
  const read = async (path: string) => {
    const authorization = `Bearer ${world.secrets.adminToken()}`;
    const answer = await world.gateway.get(`/admin/v1${path}`, { authorization });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const idsOf = async (query: string) => {
    const { body } = await read(`/requests?${query}`);
    return (body["data"] as Tagged[]).map(({ id }) => id);
  };

  it("are shown, and filter calls by tag, by end user and by both", async () => {
    const call = async (tags: object, endUser: string) => {
      const headers = { "x-gw-metadata": JSON.stringify(tags), "x-gw-end-user": endUser };
      const answer = await world.call(chat, { headers });
      await answer.text();
      return (await rowOf(answer)).id;
    };
    const first = await call({ project: "one", path: "a:b%" }, "o'brien");
    const second = await call({ project: "two", "cost:center": "a:1" }, "o'brien");
    await eventually(
      async () => (await idsOf("end_user=o%27brien")).length === 2,
      "both are there",
    );
    expect(await idsOf("tag=project:one")).toEqual([first]);
    expect(await idsOf("tag=project:two&view=list")).toEqual([second]);
    expect(await idsOf("tag=path:a:b%25")).toEqual([first]);
    expect(await idsOf("tag=project:two&end_user=o%27brien")).toEqual([second]);
    expect(await idsOf("tag=cost:center:a:1")).toEqual([second]);
    expect(await idsOf("tag=cost:center:a")).toEqual([]);
    expect(await idsOf("tag=project:")).toEqual([]);
    expect(await idsOf("tag=project:none")).toEqual([]);
    const { body } = await read(`/requests/${first}`);
    const shown = { tags: { project: "one", path: "a:b%" }, end_user: "o'brien" };
    expect(body).toMatchObject(shown);
    const { body: list } = await read("/requests?tag=project:one&view=list");
    expect(list).toMatchObject({ data: [shown], scanned_to: null });
  });

  it("are refused as a filter if invalid, with the filter's name", async () => {
    for (const query of ["tag=project", "tag=:x", "end_user="]) {
      const { status, body } = await read(`/requests?${query}`);
      expect(status).toBe(400);
      expect(JSON.stringify(body)).toContain(query.split("=")[0]);
    }
  });
});
