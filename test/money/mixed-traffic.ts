/**
 * Traffic of every kind whose money appears in several places. It has all pairs of text protocols, whole and streamed, with usage
 * and without. It also has failures, clients that leave, cache hits, embeddings, pictures, videos and an expired hold.
 */
import { startWorld as startPeople } from "../admin/people.ts";
import { eventually } from "../support/patience.ts";
import { startRecorder, type Answer } from "../support/recorder.ts";
import { config, rows } from "./cost-table.ts";

const withoutUsage = (text: string): string =>
  text
    .replaceAll(/"usage":\{(?:[^{}]|\{[^{}]*\})*\}/g, '"usage":null')
    .replaceAll(/,"usageMetadata":\{[^{}]*\}/g, "");

/** Answers as the call's text says: `#case <row of the table> <how>`. */
const answer: Answer = ({ text, body, path }, response) => {
  const [, place = "0", how = "told"] = /#case (\d) (\w+)/.exec(text) ?? [];
  const { whole, stream } = rows[Number(place)]!;
  const isStream = body["stream"] === true || path.includes("streamGenerate");
  const type = isStream ? "text/event-stream" : "application/json";
  response.writeHead(how === "fails" ? 500 : 200, { "content-type": type });
  if (how === "fails") return void response.end('{"error":{"message":"no"}}');
  const answerText = isStream ? stream : JSON.stringify(whole);
  if (how === "hangs")
    return void response.write(answerText.slice(0, answerText.indexOf("\n\n") + 2));
  response.end(how === "untold" ? withoutUsage(answerText) : answerText);
};

type Ask = readonly [path: string, body: object];
type Asking = (model: string, words: string, stream: boolean) => Ask;
const userMessage = (words: string) => [{ role: "user", content: words }];
const asking: readonly Asking[] = [
  (model, words, stream) => [
    "/v1/chat/completions",
    { model, stream, messages: userMessage(words) },
  ],
  (model, words, stream) => ["/v1/responses", { model, stream, input: words }],
  (model, words, stream) => [
    "/v1/messages",
    { model, stream, max_tokens: 99, messages: userMessage(words) },
  ],
  (model, words, stream) => [
    `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    { contents: [{ role: "user", parts: [{ text: words }] }] },
  ],
];
const models = ["acme/chat", "acme/responses", "acme/messages", "acme/gemini"] as const;

/** Two workspaces with members, an upstream and the sandbox. Usage is summed and counted by the tag `team`. */
export async function startTraffic() {
  const up = await startRecorder(answer);
  const world = await startPeople({
    config: `${config(up.url)}tags: { usage: [team, end_user], metrics: [team] }\n`,
    sandbox: "on",
    tasks: { timing: { firstPollMs: 30, sweepMs: 100 } },
  });
  const { gateway, must, home, away } = world;
  for (const { id } of [home, away])
    must(await gateway.admin("POST", `/workspaces/${id}/credits`, { amount: "50" }));
  const keyOf = async (
    person: typeof world.mem,
    workspaceId: string,
  ): Promise<{ id: string; key: string }> =>
    must(await person.call("POST", "/keys", { workspace_id: workspaceId, name: '=k, "1"' }));
  const keys = [
    await keyOf(world.mem, home.id),
    await keyOf(world.mel, home.id),
    await keyOf(world.bob, away.id),
  ] as const;
  return {
    ...world,
    keys,
    close: async () => {
      await gateway.close();
      await up.close();
    },
  };
}
export type Traffic = Awaited<ReturnType<typeof startTraffic>>;

const tags = [{}, { "x-gw-metadata": '{"team":"=a, \\"b\\""}', "x-gw-end-user": "u" }] as const;

/** Sends all traffic. Resolves when every call has ended. */
export async function sendTraffic(traffic: Traffic): Promise<void> {
  const { gateway, keys, must, home } = traffic;
  let calls = 0;
  const begin = (
    [path, body]: Ask,
    more: { key?: string; signal?: AbortSignal; headers?: object } = {},
  ) => {
    calls += 1;
    return fetch(gateway.url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${more.key ?? keys[calls % 3]!.key}`,
        ...tags[calls % 2],
        ...more.headers,
      },
      body: JSON.stringify(body),
      ...(more.signal && { signal: more.signal }),
    });
  };
  const send = async (...ask: Parameters<typeof begin>) => (await begin(...ask)).text();

  for (const make of asking)
    await Promise.all(
      models.flatMap((model, place) =>
        [false, true].flatMap((stream) =>
          ["told", "untold", "fails"].map((how) =>
            send(make(model, `Hi #case ${place} ${how}`, stream)),
          ),
        ),
      ),
    );
  for (const [place, model] of models.entries()) {
    const leaving = new AbortController();
    const left = await begin(asking[0]!(model, `Hi #case ${place} hangs`, true), leaving);
    await left.body!.getReader().read();
    leaving.abort();
  }
  must(
    await gateway.admin("PATCH", `/keys/${keys[0].id}`, {
      response_cache: { ttl_seconds: 600, charge_percent: 33 },
    }),
  );
  for (const _ of [1, 2, 3])
    await send(asking[0]!("acme/chat", "Again #case 0 told", false), { key: keys[0].key });
  await send(["/v1/embeddings", { model: "sandbox/embedding", input: ["one", "two"] }]);
  const picture = { model: "sandbox/image-model-a", prompt: "A boat", n: 2, size: "1536x1024" };
  for (const _ of [1, 2])
    await send(["/v1/images/generations", picture], {
      key: keys[1].key,
      headers: { "idempotency-key": "once" },
    });
  const runTask = async (body: object) => {
    const headers = {
      prefer: "wait=30",
      "idempotency-key": JSON.stringify(body).replaceAll(/\W/g, ""),
    };
    const ask = ["/v1/tasks", { prompt: "A boat", ...body }] as const;
    await send(ask, { key: keys[2].key, headers });
    await send(ask, { key: keys[2].key, headers });
  };
  await runTask({ model: "sandbox/task-image-model-1", n: 2, quality: "low", image_size: "2K" });
  await runTask({ model: "sandbox/video-model-tokens", duration: 5 });
  for (const script of [
    { video_seconds: 6.3 },
    { task_outcome: "failed" },
    { task_outcome: "expired" },
  ])
    await runTask({
      model: "sandbox/video-model-v1",
      duration: 8,
      prompt: `A boat\n#sandbox ${JSON.stringify(script)}`,
    });
  await runPastItsHold(traffic, (body) => send(["/v1/tasks", body], { key: keys[2].key }));
  must(
    await gateway.admin("POST", `/workspaces/${home.id}/credits`, {
      amount: "-1.000000001",
      note: "=1+1",
    }),
  );
  await eventually(async () => {
    const [row] = await gateway.database.query<{ held: bigint }>(
      "select sum(held_nano)::bigint as held from ledger_accounts",
    );
    return row!.held === 0n;
  }, "nothing held");
}

/** Runs a task that outlives its hold, and is charged late. */
async function runPastItsHold(
  { gateway }: Traffic,
  create: (body: object) => Promise<string>,
): Promise<void> {
  const prompt = 'A\n#sandbox {"task_seconds":1}';
  const text = await create({ model: "sandbox/video-model-v1", prompt, duration: 2 });
  const { id } = JSON.parse(text) as { id: string };
  await gateway.database.query(
    "update ledger_holds set lease_until = now() - interval '1 hour' where id = $1",
    [id],
  );
  await gateway.database.query("select ledger_expire_holds(9)");
  await eventually(
    async () =>
      (
        await gateway.database.query("select 1 from ledger_entries where reference = $1", [
          `${id}:late`,
        ])
      ).length > 0,
    "the late charge",
  );
}
