/** The results of real tasks, made by the sandbox's vendor, as files of the gateway. Rows STORE-01, STORE-02, STORE-03, STORE-05. */
import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { startSandbox } from "../../sandbox/index.ts";
import { openFileStore } from "../../src/files/index.ts";
import { mediaTypeOf } from "../../src/base/media-type.ts";
import { startTestGateway } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { clipConfiguration } from "../support/task-life.ts";
import { s3Config, startS3 } from "./s3-server.ts";

interface TaskBody {
  readonly id: string;
  readonly status: string;
  readonly output: { readonly videos: readonly { readonly url: string }[] };
}

const dayMs = 86_400_000;

it.each(["local", "s3"])(
  "STORE-01, STORE-02, STORE-03, STORE-05: a result is available for seven days without its vendor; then its file is removed (%s)",
  async (kind) => {
    let aheadMs = 0;
    const clock = { now: () => Date.now() + aheadMs };
    const server = kind === "s3" ? await startS3() : undefined;
    const sandbox = await startSandbox({ host: "127.0.0.1", port: 0 });
    const storage = server ? s3Config(server) : "";
    const config = clipConfiguration(`${sandbox.url}/xai/v1`, storage);
    const gateway = await startTestGateway({
      config,
      clock,
      filesEveryMs: 50,
      tasks: { timing: { firstPollMs: 40 } },
    });
    await gateway.credit("10");
    const body = { model: "acme/clip", prompt: "a lighthouse", duration: 1, resolution: "480p" };
    const answer = await gateway.post("/v1/tasks", body, { prefer: "wait=60" });
    const task = (await answer.json()) as TaskBody;
    expect(task.status).toBe("succeeded");
    await sandbox.close();

    const [{ url } = { url: "" }] = task.output.videos;
    expect(url.startsWith(`${gateway.url}/files/`)).toBe(true);
    const file = await fetch(url);
    const bytes = Buffer.from(await file.arrayBuffer());
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "video/mp4"]);
    expect(mediaTypeOf(bytes)).toBe("video/mp4");
    const name = url.split("/").at(-1)!;
    const store = await openFileStore(
      server?.options ?? { kind: "local" },
      `${gateway.directory}/data`,
    );
    expect(bytes.equals(await buffer((await store.open(name))!.stream))).toBe(true);

    aheadMs = 7 * dayMs - 60_000;
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
    aheadMs = 7 * dayMs;
    expect((await fetch(url)).status).toBe(404);
    const read = await gateway.get(`/v1/tasks/${task.id}`);
    expect([read.status, ((await read.json()) as TaskBody).status]).toEqual([200, "succeeded"]);
    await eventually(async () => {
      const kept = await store.open(name);
      kept?.stream.destroy();
      return kept === undefined;
    }, "the next round of the sweep");
    await store.close();
    await gateway.close();
    await server?.close();
  },
);
