// Streamed images: events, refusals, the end of failed streams, and charges for clients that leave.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSseParser } from "../../src/base/sse.ts";
import { eventually } from "../support/patience.ts";
import {
  modelB,
  picture,
  prompted,
  shapeOf,
  startImages,
  type Bytes,
  type Fields,
  type ImageAnswer,
  type ImageBench,
} from "./support.ts";

let bench: ImageBench;
let image: Bytes;
beforeAll(async () => {
  bench = await startImages();
  image = await picture();
});
afterAll(() => bench.close());

interface Event {
  readonly name: string | undefined;
  readonly data: Fields & Partial<ImageAnswer>;
}

const eventsIn = (text: string): Event[] =>
  createSseParser()
    .push(Buffer.from(text))
    .map(({ event, data }) => ({ name: event, data: JSON.parse(data) as Event["data"] }));

const streamed = (fields: Fields = {}, script?: object) =>
  bench.edit({ model: modelB, prompt: prompted(script), stream: "true", ...fields }, { image });
const refused = (fields: Fields) =>
  bench.refusal((prompt) =>
    bench.edit({ model: modelB, prompt, stream: "true", ...fields }, { image }),
  );

const until = (holds: () => Promise<boolean>) => eventually(holds, "a condition that holds");

describe("the events of a stream", () => {
  it("STREAM-08, STREAM-09, EDIT2-26, EDIT2-27: are previews, and then the picture with usage and gw", async () => {
    const answer = await streamed({ partial_images: "2", foo: "1" });
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(answer.headers.get("x-gw-dropped-params")).toBe("foo");
    const events = eventsIn(await answer.text());
    expect(events.map(({ name }) => name)).toEqual([
      "image_edit.partial_image",
      "image_edit.partial_image",
      "image_edit.completed",
    ]);
    for (const [index, { name, data }] of events.entries()) {
      expect(data).toMatchObject({
        type: name,
        size: "64x48",
        quality: "medium",
        background: "opaque",
        output_format: "png",
        created_at: expect.any(Number),
      });
      expect(data["partial_image_index"]).toBe([0, 1, undefined][index]);
      expect(await shapeOf(data["b64_json"] as string)).toBe("64x48 png");
    }
    const last = events.at(-1)!.data;
    expect(last.usage!.total_tokens).toBe(last.usage!.input_tokens + last.usage!.output_tokens);
    expect(last.gw!.notes).toEqual(["foo: not supported by this model, dropped"]);
    const file = await fetch(last.gw!.images[0]!.url);
    expect(Buffer.from(await file.arrayBuffer()).toString("base64")).toBe(last["b64_json"]);
  });

  it("IMG-28: have their own names for generations, with 0 to 3 previews", async () => {
    for (const partial_images of [undefined, 0, 3]) {
      const answer = await bench.generate({ stream: true, partial_images });
      const names = eventsIn(await answer.text()).map(({ name }) => name);
      const previews = Array.from(
        { length: partial_images ?? 0 },
        () => "image_generation.partial_image",
      );
      expect(names).toEqual([...previews, "image_generation.completed"]);
    }
    expect(await bench.refusal((prompt) => bench.generate({ prompt, stream: true, n: 2 }))).toBe(
      "n_must_be_one_when_streaming n",
    );
    expect(await bench.refusal((prompt) => bench.generate({ prompt, stream: "yes" }))).toBe(
      "invalid_type stream",
    );
  });

  it("EDIT2-26: are not sent for `stream: false`", async () => {
    const answer = await streamed({ stream: "false" });
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it("are made from a vendor's whole answer, and joined into one if the vendor streams without being asked", async () => {
    const whole = eventsIn(await (await streamed({}, { whole: true })).text());
    expect(whole.map(({ name }) => name)).toEqual(["image_edit.completed"]);
    expect(await shapeOf(whole[0]!.data["b64_json"] as string)).toBe("64x48 png");
    const prompt = prompted({ streamed: true });
    const unasked = await bench.generate({ prompt });
    const { data, usage } = (await unasked.json()) as ImageAnswer;
    expect(await shapeOf(data[0]!.b64_json)).toBe("64x64 png");
    expect(usage.total_tokens).toBeGreaterThan(0);
  });

  it("T17: are the same for packets of any size", async () => {
    const cut = eventsIn(
      await (await streamed({ partial_images: "1" }, { sse_cut_bytes: 997 })).text(),
    );
    expect(cut.map(({ name }) => name)).toEqual([
      "image_edit.partial_image",
      "image_edit.completed",
    ]);
  });

  it("T88: are kept alive by comments while the vendor is silent", async () => {
    const quick = await startImages({ keepAliveMs: 100 });
    const prompt = prompted({ task_seconds: 0.5 });
    const text = await (await quick.generate({ prompt, stream: true })).text();
    expect(text.match(/^: keep-alive$/gm)!.length).toBeGreaterThan(1);
    expect(eventsIn(text).map(({ name }) => name)).toEqual(["image_generation.completed"]);
    // The head has been sent by then, so a failure becomes an event.
    const failing = prompted({ task_seconds: 0.3, task_outcome: "blocked" });
    const late = await quick.generate({ prompt: failing, stream: true });
    expect(late.status).toBe(200);
    expect(eventsIn(await late.text()).map(({ name }) => name)).toEqual(["error"]);
    await quick.close();
  });
});

describe("a refused stream", () => {
  it("EDIT2-12, LIM-02, ERR-07: has more than one picture", async () => {
    expect(await refused({ n: "2" })).toBe("n_must_be_one_when_streaming n");
  });

  it("EDIT2-26, EDIT2-27, LIM-08: has another value of stream, or partial_images outside 0 to 3", async () => {
    expect(await refused({ stream: "1" })).toBe("invalid_type stream");
    expect(await refused({ stream: "True" })).toBe("invalid_type stream");
    expect(await refused({ partial_images: "4" })).toBe("integer_above_max_value partial_images");
    expect(await refused({ partial_images: "-1" })).toBe("integer_below_min_value partial_images");
    expect(await refused({ partial_images: "two" })).toBe("invalid_type partial_images");
  });

  it("LIM-08: partial_images is 0 by default, and ignored with a note without a stream", async () => {
    expect(eventsIn(await (await streamed()).text())).toHaveLength(1);
    const { gw } = (await (
      await streamed({ stream: "false", partial_images: "2" })
    ).json()) as ImageAnswer;
    expect(gw!.notes).toEqual(["partial_images: no effect without stream, ignored"]);
  });
});

describe("a stream that fails", () => {
  it("T16, BILL-22: ends with an error event after its first event, and costs nothing", async () => {
    const before = await bench.state();
    for (const script of [
      { cut_after_chunks: 1 },
      { stream_error: 1, error: "The GPU caught fire" },
      { end_after_chunks: 1 },
    ]) {
      const events = eventsIn(await (await streamed({ partial_images: "2" }, script)).text());
      expect(events.map(({ name }) => name)).toEqual(["image_edit.partial_image", "error"]);
      expect(events[1]!.data).toEqual({
        type: "error",
        error: {
          message: expect.any(String),
          type: "upstream_error",
          param: null,
          code: "upstream_error",
        },
      });
      expect(JSON.stringify(events)).not.toContain("GPU");
    }
    expect(await bench.state()).toEqual(before);
  });

  it("makes the openai SDK throw", async () => {
    const stream = await bench.client.images.generate({
      model: "sandbox/image-model-a",
      prompt: prompted({ cut_after_chunks: 1 }),
      stream: true,
      partial_images: 2,
    });
    await expect(
      (async () => {
        for await (const event of stream) void event;
      })(),
    ).rejects.toThrow("The provider broke off its answer");
  });

  it("is answered like any refusal before its first event", async () => {
    const before = await bench.state();
    const blocked = await streamed({}, { task_outcome: "blocked" });
    expect(blocked.status).toBe(400);
    const cut = await streamed({}, { cut_after_chunks: 0 });
    expect(cut.status).toBe(502);
    expect(cut.headers.get("x-should-retry")).toBe("false");
    expect(await bench.state()).toEqual(before);
  });

  it("reports moderation in the vendor's words, as the caller's error", async () => {
    const error = { message: "Your request was rejected.", code: "moderation_blocked" };
    const events = eventsIn(
      await (await streamed({ partial_images: "2" }, { stream_error: 1, error })).text(),
    );
    expect(events.at(-1)!.data["error"]).toMatchObject({
      message: "Your request was rejected.",
      code: "content_policy_violation",
    });
  });
});

describe("a client that leaves", () => {
  /** Reads `count` events of a stream, and leaves. */
  async function leaveAfter(
    count: number,
    fields: Readonly<Record<string, string>>,
    script: object,
  ): Promise<string> {
    const prompt = prompted(script);
    const leaving = new AbortController();
    const form = new FormData();
    for (const [name, value] of Object.entries({
      model: modelB,
      prompt,
      stream: "true",
      ...fields,
    }))
      form.append(name, value);
    form.append("image", new Blob([image]), "a.png");
    const asked = fetch(`${bench.url}/v1/images/edits`, {
      method: "POST",
      headers: { authorization: `Bearer ${bench.key}` },
      body: form,
      signal: leaving.signal,
    });
    const mark = prompt.split("\n")[0]!;
    if (count === 0) await until(async () => (await bench.sentWith(mark)).length > 0);
    else {
      let text = "";
      for await (const chunk of (await asked).body!) {
        text += Buffer.from(chunk).toString();
        if (eventsIn(text).length >= count) break;
      }
    }
    leaving.abort();
    await asked.catch(() => undefined);
    await until(async () => (await bench.sentWith(mark))[0]?.aborted === true);
    await until(async () => (await bench.holds()) === 0);
    return mark;
  }

  it("T62: pays nothing if nothing had arrived, and the vendor request is aborted", async () => {
    const before = await bench.state();
    await leaveAfter(0, {}, { hang: true });
    await leaveAfter(0, { stream: "false" }, { hang: true });
    expect(await bench.state()).toEqual(before);
  });

  it("T62: pays for the input and the previews that had arrived", async () => {
    const before = await bench.state();
    await leaveAfter(1, { partial_images: "3" }, { hang_after_chunks: 1 });
    const after = await bench.state();
    const nano = after.chargedNano - before.chargedNano;
    // One preview of 100 tokens at USD 30 per million, and the input.
    expect(nano).toBeGreaterThan(3_000_000n);
    expect(after.files).toEqual(before.files);
    const rowsOf = () =>
      bench.database.query<{ status: string; usage_source: string }>(
        "select status, usage_source from request_log where cost_nano = $1",
        [nano],
      );
    await until(async () => (await rowsOf()).length > 0);
    expect(await rowsOf()).toEqual([{ status: "client_closed", usage_source: "estimated" }]);
  });
});
