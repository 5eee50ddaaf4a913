/** `npm run bench -- --http`: a gateway without our fast path really runs without it, and answers. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { preparedDataDir } from "../support/postgres.ts";
import { spawnGateway } from "../support/process.ts";

const without = new URL("../../bench/http/without.ts", import.meta.url).pathname;
const source = new URL("../../src/", import.meta.url).pathname;

it("each part is replaced only if it is named", async () => {
  const print = `
    const { HttpPool } = await import("${source}upstream/http1/pool.ts");
    const { installFastPath } = await import("${source}http/front/fast/index.ts");
    console.log(HttpPool.toString().includes("MediaPool"), installFastPath.length);`;
  const args = [`--import=${without}`, "--input-type=module", "--eval", print];
  const seen = async (parts: string): Promise<string> => {
    const env = { ...process.env, BENCH_WITHOUT: parts };
    return (await promisify(execFile)(process.execPath, args, { env })).stdout.trim();
  };
  expect(await seen("")).toBe("false 2");
  expect(await seen("front,client")).toBe("true 0");
});

it("a gateway on node:http and undici answers whole and streamed", async () => {
  const gateway = await spawnGateway({
    TOLLGATE_DATA_DIR: await preparedDataDir(),
    TOLLGATE_SANDBOX: "on",
    NODE_OPTIONS: `--import=${without}`,
    BENCH_WITHOUT: "front,client",
  });
  try {
    const key = /gw_live_\w+/.exec(gateway.banner)![0];
    const ask = async (stream: boolean): Promise<string> => {
      const messages = [{ role: "user", content: "Hello!" }];
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "sandbox/chat", messages, stream }),
      });
      expect(response.status).toBe(200);
      return response.text();
    };
    expect(await ask(false)).toContain('"finish_reason":"stop"');
    expect(await ask(true)).toContain("data: [DONE]");
  } finally {
    await gateway.stop();
  }
});
