// An idempotency key on image calls: a repetition gets the same answer, whole or as events, and nothing is made or charged twice.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { createKey, createWorkspace } from "../../src/tenancy/index.ts";
import { picture, prompted, startImages, modelB, type Bytes, type ImageBench } from "./support.ts";

let bench: ImageBench;
let image: Bytes;
beforeAll(async () => {
  bench = await startImages();
  image = await picture();
});
afterAll(() => bench.close());

const keyed = (key: string) => ({ "idempotency-key": key });
const replayed = (response: Response) => response.headers.get("idempotent-replayed");
const markOf = (prompt: string) => prompt.split("\n")[0]!;

async function codeOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { code: string } };
  return `${response.status} ${error.code}`;
}

describe("an idempotency key with an answer", () => {
  it("gives the same body again, without a vendor and without a charge", async () => {
    const prompt = prompted();
    const first = await bench.generate({ prompt }, keyed("one"));
    const body = await first.text();
    expect(replayed(first)).toBeNull();
    const before = await bench.state();
    const again = await bench.generate({ prompt }, keyed("one"));
    expect(again.status).toBe(200);
    expect(replayed(again)).toBe("true");
    expect(again.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await again.text()).toBe(body);
    expect(await bench.sentWith(prompt)).toHaveLength(1);
    expect(await bench.state()).toEqual(before);
  });

  it("gives the answer to a form again, and of a stream its completed event", async () => {
    for (const stream of ["false", "true"]) {
      const prompt = prompted();
      const edit = () =>
        bench.edit({ model: modelB, prompt, stream, partial_images: 1 }, { image }, keyed(stream));
      const first = await (await edit()).text();
      const again = await edit();
      expect(replayed(again)).toBe("true");
      const type = stream === "true" ? "text/event-stream" : "application/json";
      expect(again.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
      const text = await again.text();
      const last = first.slice(Math.max(first.indexOf("event: image_edit.completed"), 0));
      expect(text).toBe(last);
      expect(await bench.sentWith(prompt)).toHaveLength(1);
    }
    await expect
      .poll(async () => (await bench.state()).files.filter((name) => name.includes("part")))
      .toEqual([]);
  });

  it("ERR-12: reports dropped parameters again, whole and streamed, and none if there were none", async () => {
    const named = (response: Response) => response.headers.get("x-gw-dropped-params");
    const odd = {
      prompt: prompted(),
      style: "vivid",
      "naïve; dropped=%": 1,
      response_format: "url",
    };
    const generate = () => bench.generate(odd, keyed("named"));
    const edit = (stream: string, more: object) => () =>
      bench.edit(
        { model: modelB, prompt: `x${stream}`, stream, ...more },
        { image },
        keyed(`named ${stream} ${Object.keys(more).length}`),
      );
    for (const [call, names] of [
      [generate, "style, na?ve;?dropped=%, response_format"],
      [edit("false", { foo: 1, input_fidelity: "high" }), "foo, input_fidelity"],
      [edit("true", { foo: 1 }), "foo"],
      [edit("true", {}), null],
    ] as const) {
      const first = await call();
      await first.text();
      const again = await call();
      expect([named(first), replayed(first)]).toEqual([names, null]);
      expect([named(again), replayed(again)]).toEqual([names, "true"]);
      expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
      await again.text();
    }
  });

  it("is refused for another request, and for a task", async () => {
    const prompt = prompted();
    await (await bench.generate({ prompt }, keyed("two"))).text();
    const other = await bench.generate({ prompt, n: 2 }, keyed("two"));
    expect(await codeOf(other)).toBe("422 idempotency_key_reuse");
    const task = await bench.post("/v1/tasks", { model: modelB, prompt }, keyed("two"));
    expect(await codeOf(task)).toBe("422 idempotency_key_reuse");
    const made = await bench.post("/v1/tasks", { model: modelB, prompt }, keyed("three"));
    expect(made.status).toBe(202);
    expect(await codeOf(await bench.generate({ prompt }, keyed("three")))).toBe(
      "422 idempotency_key_reuse",
    );
  });

  it("TASK-10: is its workspace's own: another workspace's call with the same key and body is made and charged there", async () => {
    const prompt = prompted();
    const call = (key = bench.key) =>
      bench.generate({ prompt }, { ...keyed("shared"), authorization: `Bearer ${key}` });
    const first = await (await call()).text();
    const context = await bench.internals();
    const other = await createWorkspace(context, { name: "Other", organizationId: null });
    const owned = { workspaceId: other.id, name: "its key", createdBy: null };
    const { key: otherKey } = await createKey(context, owned);
    await bench.ledger.credit({
      workspaceId: other.id,
      amountNano: parseUsd("1"),
      reference: "start",
    });
    const made = await call(otherKey);
    expect([made.status, replayed(made)]).toEqual([200, null]);
    await made.text();
    expect(await bench.sentWith(prompt)).toHaveLength(2);
    expect((await bench.ledger.balance(other.id)).chargedNano).toBeGreaterThan(0n);
    const again = await call();
    expect([replayed(again), await again.text()]).toEqual(["true", first]);
    expect(replayed(await call(otherKey))).toBe("true");
    expect(await bench.sentWith(prompt)).toHaveLength(2);
  });

  it("keeps its answer in a file that cannot be downloaded, and not in its row", async () => {
    await (await bench.generate({}, keyed("four"))).text();
    const [row] = await bench.database.query<{ answer: string; size: number }>(
      "select answer, pg_column_size(k.*) as size from idempotency_keys k where key = 'four'",
    );
    expect(row!.size).toBeLessThan(500);
    expect((await bench.state()).files).toContain(row!.answer);
    expect((await bench.get(`/files/${row!.answer}`)).status).toBe(404);
  });

  it("is answered 404 when its answer is no longer stored", async () => {
    const call = () => bench.generate({ prompt: "A boat" }, keyed("five"));
    await (await call()).text();
    const [row] = await bench.database.query<{ answer: string }>(
      "select answer from idempotency_keys where key = 'five'",
    );
    rmSync(join(bench.directory, "data", "files", row!.answer));
    expect(await codeOf(await call())).toBe("404 not_found");
  });

  it("is refused with 256 characters", async () => {
    expect(await codeOf(await bench.generate({}, keyed("x".repeat(256))))).toBe(
      "400 invalid_value",
    );
  });
});

describe("an idempotency key whose call is in flight or has failed", () => {
  it("is answered with 409 and Retry-After while it runs, and the vendor is asked once", async () => {
    const prompt = prompted({ task_seconds: 1 });
    const call = () => bench.generate({ prompt }, keyed("slow"));
    const running = call();
    await expect.poll(async () => (await bench.sentWith(markOf(prompt))).length).toBe(1);
    const early = await call();
    expect(early.headers.get("retry-after")).toBe("1");
    expect(await codeOf(early)).toBe("409 idempotency_in_progress");
    const first = await (await running).text();
    const again = await call();
    expect([replayed(again), await again.text()]).toEqual(["true", first]);
    expect(await bench.sentWith(markOf(prompt))).toHaveLength(1);
  });

  it("runs only one of many simultaneous calls", async () => {
    const prompt = prompted({ task_seconds: 0.3 });
    const all = await Promise.all(
      Array.from({ length: 8 }, () => bench.generate({ prompt }, keyed("many"))),
    );
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(7);
    expect(await bench.sentWith(markOf(prompt))).toHaveLength(1);
  });

  it("is free again if the gateway died during the call: the hold is gone, and there is no answer", async () => {
    const prompt = prompted();
    await (await bench.generate({ prompt }, keyed("died"))).text();
    await bench.database.query(
      "update idempotency_keys set answer = null, call_id = 'req_of_the_dead' where key = 'died'",
    );
    const again = await bench.generate({ prompt }, keyed("died"));
    expect([again.status, replayed(again)]).toEqual([200, null]);
    expect(replayed(await bench.generate({ prompt }, keyed("died")))).toBe("true");
  });

  it("is free again after a failure and after a refusal", async () => {
    const prompt = prompted({ status: 400, error: "no", times: 1 });
    const call = (n?: number) => bench.generate({ prompt, n }, keyed("fails"));
    expect((await call()).status).toBe(400);
    const second = await call();
    expect([second.status, replayed(second)]).toEqual([200, null]);
    expect((await bench.generate({ prompt, n: 99 }, keyed("refused"))).status).toBe(400);
    expect((await bench.generate({ prompt }, keyed("refused"))).status).toBe(200);
  });
});
