/** A result that is on another gateway's disk: the caller gets 404, and the log tells the operator why. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { startTestGateway } from "../support/gateway.ts";

it("STORE-02: a file in the database that is missing on this gateway's disk is logged, at most once in a while", async () => {
  const warnings: [object, string][] = [];
  const warn = (fields: object, message: string): void => void warnings.push([fields, message]);
  const gateway = await startTestGateway({ sandbox: "on", log: { ...silentLog, warn } });
  const made = await fetch(`${gateway.url}/v1/tasks`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "content-type": "application/json",
      prefer: "wait=60",
    },
    body: JSON.stringify({ model: "sandbox/task-image-model-1", prompt: "A boat" }),
  });
  const { output } = (await made.json()) as { output: { images: { url: string }[] } };
  const { url } = output.images[0]!;
  const statuses = async (): Promise<number[]> => {
    const answers = [await fetch(url), await fetch(url)];
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    return answers.map(({ status }) => status);
  };
  expect(await statuses()).toEqual([200, 200]);
  const folder = join(gateway.directory, "data", "files");
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  expect(await statuses()).toEqual([404, 404]);
  const fileWarnings = warnings.filter(([, message]) =>
    message.startsWith("a file is in the database"),
  );
  expect(fileWarnings).toEqual([[{ file: url.slice(-36) }, expect.stringContaining("storage")]]);
  await gateway.close();
});
