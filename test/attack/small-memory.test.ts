/**
 * Many large bodies at once, on a gateway with default limits that shares 512 MB with its database, as in a small container. It
 * survives, small calls are answered meanwhile, and each of the bodies alone is served.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defaultSettings } from "../../src/catalog/index.ts";
import { memoryOfEach } from "../../src/cli/workers/memory.ts";
import { shareOf } from "../../src/cli/workers/share.ts";
import { shortOrLong } from "../support/long.ts";
import { memoryGroup } from "../support/memory-group.ts";
import { eventually } from "../support/patience.ts";
import { pixel } from "../support/pixel.ts";
import { unreadAt } from "../support/unread.ts";
import { send, startVictim, type Sent, type Victim } from "./body-support.ts";
import { closeAll, openRaw, type RawRequest } from "./raw-clients.ts";
import { measure, watchPauses } from "./support.ts";

const mebibyte = 1024 * 1024;
/** The largest text body that such a gateway accepts. */
const { textBodyBytes } = shareOf(
  defaultSettings.limits,
  1,
  memoryOfEach({ count: 1, databaseUrl: undefined }, 512 * mebibyte),
);
/** Leaves room for the JSON around the text. */
const bodyBytes = Math.floor(textBodyBytes / mebibyte - 1) * mebibyte;
/** There is room for one of them at a time. Four together would take more than the memory. */
const bodiesAtOnce = shortOrLong(4, 20);
/** Bodies beside streams. One alone takes all the room for large bodies. */
const bodiesBesideStreams = shortOrLong(1, 20);
const rounds = shortOrLong(1, 3);
const unread = shortOrLong(90, 200);
/** 512 MB have room for this many unread streams. */
const unreadStreamsMax = 80;
/** If all of their text were kept, they would take 320 MB, or 240 in the short form: too much beside a body either way. */
const longStreams = shortOrLong(30, 40);
const longStreamBytes = 4_200_000;
/** Each of them sends an event of 30 MB. */
const endlessEventStreams = 40;
/** If all were held at once, those of the short form would take 500 MB (42 MB each), besides the process itself. */
const pictureCalls = shortOrLong(12, 100);

/** The gateway checks every 250 ms which clients read. One that did not run for nearly half of that may have read nothing. */
const excusedMs = 100;

const group = memoryGroup(512 * mebibyte);
const json = (body: object): Buffer => Buffer.from(JSON.stringify(body));
const common = { model: "sandbox/chat", max_tokens: 10 };
/** One non-Latin character makes JavaScript store each character in two bytes. */
const text = `${"a ".repeat(bodyBytes / 2)}\u{1f600}`;
/** As JSON text inside JSON, as other protocols have a call's arguments, each quote takes twice its bytes. */
const quotes = { x: `${'"'.repeat(bodyBytes / 2)}\u{1f600}` };
const picture = Buffer.alloc((bodyBytes / 4) * 3, 7).toString("base64");
const png = "data:image/png;base64,";

const bodies: readonly (readonly [string, Omit<Sent, "key">])[] = [
  [
    "arguments full of quotes",
    {
      path: "/v1/messages",
      body: json({
        ...common,
        messages: [
          { role: "user", content: "Hi" },
          {
            role: "assistant",
            content: [{ type: "tool_use", id: "t1", name: "t", input: quotes }],
          },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "ok" }] },
        ],
      }),
    },
  ],
  [
    "texts of another protocol",
    {
      path: "/v1/messages",
      body: json({ ...common, messages: [{ role: "user", content: text }] }),
    },
  ],
  [
    "texts",
    {
      path: "/v1/chat/completions",
      body: json({ ...common, messages: [{ role: "user", content: text }] }),
    },
  ],
  [
    "pictures of another protocol",
    {
      path: "/v1/responses",
      body: json({
        model: common.model,
        input: [{ role: "user", content: [{ type: "input_image", image_url: png + picture }] }],
      }),
    },
  ],
  [
    "pictures",
    {
      path: "/v1/chat/completions",
      body: json({
        ...common,
        messages: [
          { role: "user", content: [{ type: "image_url", image_url: { url: png + picture } }] },
        ],
      }),
    },
  ],
];

const texts = bodies[2]!;
/**
 * In the short form: one that is converted, and the plainest, which is passed on unchanged. The one that takes the most comes
 * beside streams.
 */
const tried = shortOrLong([bodies[1]!, bodies.at(-1)!], bodies);
/** In the short form only the vendor that ends its answers: an event without an end is tried with texts. */
const pictureVendors: readonly (readonly [string, string, object, readonly number[]])[] = [
  ["whole answers of 25 MB", "large-picture", {}, [200, 503]],
  ["events of 50 MB that never end", "unfinished-picture", { stream: true }, [502, 200]],
];

/** A form with a picture of 20 MB, for an unknown model: the gateway must read and keep all of it before it knows that. */
function form(): Omit<Sent, "key"> {
  const head = (name: string, more = "") =>
    `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(`${head("model")}none/none\r\n${head("prompt")}x\r\n`),
    Buffer.from(head("image", '; filename="a.png"')),
    Buffer.from(pixel, "base64"),
    Buffer.alloc(20 * mebibyte),
    Buffer.from("\r\n--b--\r\n"),
  ]);
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  return { path: "/v1/images/edits", body, headers };
}

/** One gateway for all tests of a group. */
function startOne() {
  const own = { victim: undefined as unknown as Victim };
  beforeAll(async () => {
    own.victim = await startVictim(group);
  });
  afterAll(() => own.victim?.stop());
  const post = (sent: Omit<Sent, "key">) => send(own.victim.url, { ...sent, key: own.victim.key });
  const together = (sent: Omit<Sent, "key">, count = bodiesAtOnce) =>
    Promise.all(Array.from({ length: count }, () => post(sent)));
  const streamOf = (path: string, model: string): RawRequest => ({
    path,
    headers: { authorization: `Bearer ${own.victim.key}` },
    body: JSON.stringify({
      ...common,
      model,
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    }),
  });

  const pictureOf = (model: string, more: object): RawRequest => ({
    path: "/v1/images/generations",
    headers: { authorization: `Bearer ${own.victim.key}` },
    body: JSON.stringify({ model: `sandbox/${model}`, prompt: "x", ...more }),
  });

  /** Bodies beside open streams, of the kind that takes the most memory. */
  async function expectHeld(streams: string): Promise<void> {
    const [, sent] = bodies[0]!;
    const name = `${streams}, and ${bodiesBesideStreams} bodies, in 512 MB`;
    const figures = await measure(name, own.victim, () => together(sent, bodiesBesideStreams));
    expect(group!.ended()).toBe(0);
    expect(figures.failed).toBe(0);
  }

  /** A refused body's connection may break before its answer is read. */
  async function expectServed([, sent] = bodies[0]!): Promise<void> {
    const isServed = async () => {
      const status = await post(sent);
      expect(group!.ended()).toBe(0);
      return status === 200;
    };
    await eventually(isServed, "a body to be served by itself");
  }

  return { own, post, together, streamOf, pictureOf, expectHeld, expectServed };
}
afterAll(() => group?.remove());

describe.skipIf(group === undefined)("large bodies on a gateway with 512 MB", () => {
  const { own, post, together } = startOne();

  it.each(tried)(
    "are served one after another at the largest size, and many at once are partly refused: %s",
    async (name, sent) => {
      const figures = await measure(`${bodiesAtOnce} ${name} in 512 MB`, own.victim, async () => {
        for (let round = 0; round < rounds; round += 1) {
          const statuses = new Set(await together(sent));
          expect(statuses).toContain(200);
          // If an answer comes before its body was sent, the connection may break.
          expect([0, 200, 503]).toEqual(expect.arrayContaining([...statuses]));
        }
      });
      expect(figures.failed).toBe(0);
      for (let again = 0; again < shortOrLong(1, 2); again += 1) expect(await post(sent)).toBe(200);
      expect(group!.ended()).toBe(0);
    },
  );

  it("forms are written to disk as they arrive", async () => {
    const sent = form();
    const figures = await measure(`${bodiesAtOnce} forms in 512 MB`, own.victim, async () => {
      const statuses = await together(sent);
      expect([0, 400, 503]).toEqual(expect.arrayContaining([...new Set(statuses)]));
      expect(statuses).toContain(400);
    });
    expect(figures.failed).toBe(0);
    expect(group!.ended()).toBe(0);
  });
});

/**
 * These tests have their own gateway: large bodies leave some 50 MB behind in a process, which these tests need. docs/load.md
 * "Bodies and memory".
 */
describe.skipIf(group === undefined)("streams and large bodies on a gateway with 512 MB", () => {
  const { own, streamOf, expectHeld, expectServed } = startOne();

  it("clients that never read are cut off before they use the memory of others", async () => {
    const streamed = streamOf("/v1/chat/completions", "sandbox/endless");
    const clients = Array.from({ length: unread }, () =>
      openRaw(own.victim.url, streamed, { reads: false }),
    );
    await eventually(
      () => unreadAt(own.victim.url) >= unreadStreamsMax / 2,
      "streams to stand still",
      60_000,
    );
    await expectHeld(`${unread} streams that nobody reads`);
    await expectServed();
    expect(unreadAt(own.victim.url)).toBeLessThan(unreadStreamsMax);
    closeAll(clients);
  });

  it("long streams use almost no memory for their text", async () => {
    const streamed = streamOf("/v1/chat/completions", "sandbox/talking");
    let bytes = 0;
    const clients = Array.from({ length: longStreams }, () => openRaw(own.victim.url, streamed));
    for (const { socket } of clients) socket.on("data", (piece) => (bytes += piece.length));
    await eventually(() => bytes > longStreams * longStreamBytes, "texts to be long", 60_000);
    await expectHeld(`${longStreams} streams of long texts`);
    await expectServed();
    closeAll(clients);
  });
});

describe.skipIf(group === undefined)("a vendor that lies to a gateway with 512 MB", () => {
  const { own, streamOf, expectHeld, expectServed } = startOne();

  it("has its endless events limited like bodies, and is refused beyond that", async () => {
    const streamed = streamOf("/v1/chat/completions", "sandbox/unfinished");
    const clients = Array.from({ length: endlessEventStreams }, () =>
      openRaw(own.victim.url, streamed),
    );
    const refused = () => clients.filter((client) => client.status() === 503).length;
    await eventually(() => refused() > endlessEventStreams / 2, "most to be refused", 60_000);
    await expectHeld(`${endlessEventStreams} streams whose events never end`);
    closeAll(clients);
    await expectServed();
  });
});

describe.skipIf(group === undefined).each(pictureVendors.slice(0, shortOrLong(1, 2)))(
  "a vendor of pictures sends a gateway with 512 MB %s",
  (what, model, more, allowed) => {
    const { own, pictureOf, expectServed } = startOne();

    it("the pictures wait for room one after another, while other callers are served", async () => {
      const request = pictureOf(model, more);
      const figures = await measure(`${pictureCalls} ${what} in 512 MB`, own.victim, async () => {
        const clients = Array.from({ length: pictureCalls }, () =>
          openRaw(own.victim.url, request),
        );
        const isOver = () => {
          expect(group!.ended()).toBe(0);
          return clients.every((client) => client.status() !== undefined);
        };
        await eventually(isOver, "an answer to each", 120_000);
        const statuses = clients.map((client) => client.status());
        expect(allowed).toEqual(expect.arrayContaining([...new Set(statuses)]));
        expect(statuses).toContain(allowed[0]);
        closeAll(clients);
      });
      expect(group!.ended()).toBe(0);
      expect(figures.failed).toBe(0);
      // Texts: the process keeps some of the memory of the pictures, and the largest kind of body would exceed the limit.
      await expectServed(texts);
    });
  },
);

describe.skipIf(group === undefined)(
  "pictures for clients of a gateway with 512 MB that never read",
  () => {
    const { own, pictureOf } = startOne();

    it("are cut off before those for clients that read", async () => {
      const { path, headers, body } = pictureOf("large-picture", {});
      const request = { path, headers: headers!, body: body! };
      const silent = Array.from({ length: shortOrLong(10, 20) }, () =>
        openRaw(own.victim.url, request, { reads: false }),
      );
      const served = shortOrLong(2, 5);
      let whole = 0;
      const read = async (): Promise<void> => {
        const answer = await fetch(`${own.victim.url}${path}`, {
          method: "POST",
          headers: { ...request.headers, "content-type": "application/json" },
          body: request.body,
        });
        const { length } = await answer.text();
        expect([200, 503]).toContain(answer.status);
        if (answer.status === 200) whole += length > 25_000_000 ? 1 : 0;
      };
      const isServed = async () => {
        const pauses = watchPauses();
        try {
          await read();
        } catch (error) {
          // The gateway cannot tell a client that did not run for a while from one that does not read.
          if (!(error instanceof TypeError) || pauses.longestMs() < excusedMs) throw error;
        } finally {
          pauses.stop();
        }
        expect(group!.ended()).toBe(0);
        return whole === served;
      };
      await eventually(isServed, `${served} pictures to be served`, 60_000);
      closeAll(silent);
    });
  },
);
