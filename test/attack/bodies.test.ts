/**
 * Large bodies beside an innocent caller, at one gateway: from strangers, of brackets alone up to the size limit, and of tiny
 * values with a valid key. On every protocol, direct and converted. No other caller waits, and the process survives.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { longNumbersMax } from "../../src/base/exact-numbers.ts";
import { jsonBounds } from "../../src/base/json-scan.ts";
import { shortOrLong } from "../support/long.ts";
import {
  expectUnharmed,
  listOf,
  listOfSame,
  send,
  sendStart,
  startVictim,
  type Sent,
  type Victim,
} from "./body-support.ts";
import { measureAgain, stallMsMax } from "./support.ts";

let victim: Victim;
beforeAll(async () => {
  victim = await startVictim();
});
afterAll(() => victim?.stop());

/** Bodies of 60 MB and millions of values: the gateway parses and keeps nothing of them. */
describe("a stranger's large bodies", () => {
  const body = Buffer.from(`{"a":${listOfSame(20_000_000, "{}")}}`);

  const groups: readonly (readonly [string, readonly string[], string])[] = [
    ["/auth", ["/auth/sign-in/email", "/auth/change-password", "/auth/sign-in/social"], "413"],
    ["/admin/v1", ["/admin/v1/keys", "/admin/v1/workspaces", "/admin/v1/tokens"], "401"],
    [
      "calls",
      ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1beta/models/x:generateContent"],
      "401",
    ],
    ["counts and embeddings", ["/v1/messages/count_tokens", "/v1/embeddings"], "401"],
    [
      "images and tasks",
      [
        "/v1/images/generations",
        "/v1/tasks",
        "/v1/videos/generations",
        "/api/v3/contents/generations/tasks",
      ],
      "401",
    ],
    ["forms", ["/v1/images/edits", "/v1/tasks"], "401"],
  ];
  const form = { "content-type": "multipart/form-data; boundary=x" };
  const headersTo = (name: string): Record<string, string> => (name === "forms" ? form : {});
  const sizes = [false, true];

  /**
   * Sends eight bodies at once to a group of paths. If an answer comes before its body was sent, the connection may break: any of
   * them, or all.
   */
  async function attacked([name, paths, refusal]: (typeof groups)[number]): Promise<number[]> {
    const headers = headersTo(name);
    const sent = sizes.flatMap((chunked) =>
      Array.from({ length: 4 }, (_, index) =>
        send(victim.url, { path: paths[index % paths.length]!, body, chunked, headers }),
      ),
    );
    const statuses = await Promise.all(sent);
    expect([0, Number(refusal)]).toEqual(expect.arrayContaining(statuses));
    return statuses;
  }

  /**
   * A client that waits for the answer before it sends more always gets it. A chunked body shows that it is too long only once it
   * is.
   */
  async function expectRefusals([name, paths, refusal]: (typeof groups)[number]): Promise<void> {
    const headers = headersTo(name);
    for (const path of paths)
      for (const chunked of sizes) {
        const bytes = chunked && refusal === "413" ? 1 << 15 : 0;
        const answer = sendStart(victim.url, { path, body, chunked, headers }, bytes);
        expect(await answer, `${path}, ${chunked ? "chunked" : "with a length"}`).toBe(
          Number(refusal),
        );
      }
  }

  type Attack = readonly [string, typeof groups];
  /** In the long form each group has its own attack; in the short one all groups share one, in turn. */
  const attacks = shortOrLong<readonly Attack[]>(
    [["all paths", groups]],
    groups.map((group) => [group[0], [group]]),
  );

  it.each(attacks)(
    "harm no other caller when many are sent to %s at once, with a length and in chunks",
    async (name, tried) => {
      await expectUnharmed(`a stranger to ${name}`, victim, async () => {
        const statuses: number[] = [];
        for (let round = 0; round < shortOrLong(1, 10); round += 1)
          for (const group of tried) statuses.push(...(await attacked(group)));
        return statuses;
      });
      for (const group of tried) await expectRefusals(group);
    },
  );
});

/** Brackets alone, nested as deep as the size limit allows. */
describe("bodies nested without end", () => {
  it("are refused by the scan, while another caller waits less than 250 ms", async () => {
    const body = Buffer.from("[".repeat(4 * 2 ** 20));
    const one = { path: "/v1/chat/completions", body, key: victim.key };
    const statuses = new Set<number>();
    const figures = await measureAgain("nested bodies", victim, async () => {
      for (let round = 0; round < shortOrLong(10, 200); round += 1)
        statuses.add(await send(victim.url, one));
    });
    expect([...statuses]).toEqual([400]);
    expect(figures).toMatchObject({ failed: 0 });
    expect(figures.stallMs).toBeLessThan(stallMsMax);
    expect(figures.memoryMax).toBeLessThan(1.5e9);
  });
});

/** Far beyond the limit, and just within it. */
describe("bodies of tiny values", () => {
  /** Sends all bodies at once, `rounds` times. */
  const attack = (name: string, bodies: readonly Omit<Sent, "key">[], rounds: number) =>
    expectUnharmed(name, victim, async () => {
      const statuses: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const sent = bodies.map((body) => send(victim.url, { ...body, key: victim.key }));
        statuses.push(...(await Promise.all(sent)));
      }
      return statuses;
    });

  it("are refused at 60 MB, many at once with one key", async () => {
    const body = Buffer.from(`{"model":"sandbox/chat","messages":${listOfSame(20_000_000, "{}")}}`);
    const bodies = [
      { path: "/v1/chat/completions", body },
      { path: "/v1/responses", body, chunked: true },
      { path: "/v1/images/generations", body },
    ];
    const sent = Array.from({ length: shortOrLong(1, 3) }, () => bodies).flat();
    const answers = await attack("60 MB of {}", sent, shortOrLong(1, 5));
    // If an answer comes before its body was sent, the connection may break.
    expect(
      Object.keys(answers).filter((status) => !["0", "400", "413", "503"].includes(status)),
    ).toEqual([]);
  });

  it("are refused at 31 MB, many at once with one key", async () => {
    const text = `{"model":"sandbox/chat","messages":${listOfSame(10_000_000, "{}")}}`;
    const one = { path: "/v1/messages", body: Buffer.from(text) };
    await attack(
      "31 MB of {}",
      Array.from({ length: shortOrLong(3, 12) }, () => one),
      shortOrLong(1, 5),
    );
  });

  describe("bodies just within the limits, many at once", () => {
    const manyOf = <Body>(bodies: readonly Body[]) => shortOrLong(bodies, [...bodies, ...bodies]);
    const { parts, values } = jsonBounds;
    const turns = Math.floor(parts / 5) - 8;
    const role = (index: number, other: string) => (index % 2 === 0 ? "user" : other);
    const chat = (model: string) =>
      `{"model":"${model}","messages":${listOf(turns, (index) => `{"role":"${role(index, "assistant")}","content":"a"}`)}}`;
    const messages = (model: string) => `{"max_tokens":10,${chat(model).slice(1)}`;
    const responses = (model: string) => chat(model).replace(`"messages"`, `"input"`);
    const contents = `{"contents":${listOf(Math.floor(parts / 8) - 8, (index) => `{"role":"${role(index, "model")}","parts":[{"text":"a"}]}`)}}`;
    const google = (model: string) => `/v1beta/models/${encodeURIComponent(model)}:generateContent`;
    const models = [
      "sandbox/chat",
      "sandbox/responses",
      "sandbox/messages",
      "sandbox/generate-content",
    ] as const;
    const { members } = jsonBounds;
    const names = listOf(members - 10, (index) => `"k${index}":1`).slice(1, -1);

    /** One body in each protocol, for these models. */
    const bodiesTo = (...to: readonly [string, string, string, string]) => [
      { path: "/v1/chat/completions", body: Buffer.from(chat(to[0])) },
      { path: "/v1/messages", body: Buffer.from(messages(to[1])) },
      { path: "/v1/responses", body: Buffer.from(responses(to[2])) },
      { path: google(to[3]), body: Buffer.from(contents) },
    ];
    const [toChat, toResponses, toMessages, toGoogle] = models;
    /** All protocols to each model; in the short form each to a model of another protocol, so that all are converted. */
    const conversations = shortOrLong<readonly (readonly [string, ReturnType<typeof bodiesTo>])[]>(
      [["others", bodiesTo(toResponses, toChat, toGoogle, toMessages)]],
      models.map((model) => [model, bodiesTo(model, model, model, model)]),
    );

    it.each(conversations)(
      "harm no other caller as conversations with %s",
      async (name, bodies) => {
        await attack(`conversations to ${name}`, manyOf(bodies), shortOrLong(1, 10));
      },
    );

    it("harm no other caller as unknown fields, numbers, empty objects and token lists", async () => {
      const hello = `"model":"sandbox/messages","messages":[{"role":"user","content":"a"}]`;
      const bodies = [
        { path: "/v1/chat/completions", body: `{${hello},${names}}` },
        { path: "/v1/chat/completions", body: `{${hello},"metadata":{${names}}}` },
        { path: "/v1/chat/completions", body: `{${hello},"x":${listOfSame(parts - 100, "{}")}}` },
        {
          path: "/v1/responses",
          body: `{"model":"sandbox/chat","input":${listOfSame(parts / 3 - 100, `{"type":"x"}`)}}`,
        },
        {
          path: "/v1/embeddings",
          body: `{"model":"sandbox/embedding","input":${listOfSame(values - 100, "1")}}`,
        },
        {
          path: "/v1/images/generations",
          body: `{"model":"sandbox/image-model-a","prompt":"a","x":${listOfSame(parts - 100, "{}")}}`,
        },
        { path: "/v1/tasks", body: `{"model":"sandbox/video-model-v1","prompt":"a",${names}}` },
        {
          path: "/v1/messages",
          body: `{${hello},"max_tokens":9,"x":${listOfSame(longNumbersMax, "9007199254740993")}}`,
        },
        {
          path: "/v1/messages",
          body: `{${hello},"max_tokens":9,"x":${listOfSame(values - 100, "9007199254740993")}}`,
        },
      ].map(({ path, body }) => ({ path, body: Buffer.from(body) }));
      await attack("other legal bodies", manyOf(bodies), shortOrLong(1, 10));
    });
  });

  it("harm no other caller as one long text, many at once", async () => {
    const text = `{"model":"sandbox/messages","messages":[{"role":"user","content":"${'\\"'.repeat(shortOrLong(4, 15) * 2 ** 20)}"}]}`;
    const one = { path: "/v1/chat/completions", body: Buffer.from(text) };
    await attack(
      "one text of escaped quotes",
      Array.from({ length: 6 }, () => one),
      shortOrLong(1, 5),
    );
  });
});
