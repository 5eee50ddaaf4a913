/** Guarantees for callers between versions. VER rows; docs/decisions.md "Versions". */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway({ tasks: { timing: { firstPollMs: 30 } } });
});
afterAll(() => gateway.close());

interface Operation {
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly operationId?: string;
}

const operations = async (): Promise<[string, Operation][]> => {
  const { paths } = (await (await gateway.get("/openapi.json")).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
};

describe("versions", () => {
  it("VER-02: the description of the synchronous image endpoints carries interface version 1.0.0", async () => {
    const described = (await operations()).filter(([name]) => name.startsWith("POST /v1/images/"));
    expect(described.map(([name]) => name).sort()).toEqual([
      "POST /v1/images/edits",
      "POST /v1/images/generations",
    ]);
    for (const [name, { description }] of described)
      expect(`${name}: ${description}`).toMatch(/interface version 1\.0\.0/i);
  });

  it("VER-03 VER-04: two versions of a video model are two ids, side by side, each with its own limits", async () => {
    const submit = async (model: string, resolution: string) => {
      const body = { model, prompt: "a lighthouse", duration: 1, resolution };
      const answer = await gateway.post("/v1/tasks", body, { prefer: "wait=10" });
      const task = (await answer.json()) as { model?: string; status?: string };
      return [answer.status, task.model, task.status];
    };
    const [old, next] = ["sandbox/video-model-v1", "sandbox/video-model-v1.5"] as const;
    expect(await submit(old, "720p")).toEqual([200, old, "succeeded"]);
    expect(await submit(next, "720p")).toEqual([200, next, "succeeded"]);
    expect(await submit(next, "1080p")).toEqual([200, next, "succeeded"]);
    expect((await submit(old, "1080p"))[0]).toBe(400);
  });

  it("VER-05: the changelog names every deprecated operation, and says how long it stays", async () => {
    const changelog = readFileSync(new URL("../../CHANGELOG.md", import.meta.url), "utf8");
    expect(changelog).toMatch(/within one path prefix\s+changes only add/);
    expect(changelog).toMatch(/`Deprecation` header, two minor versions before/);
    const deprecated = (await operations()).filter(
      ([, operation]) => operation.deprecated === true,
    );
    for (const [name] of deprecated) expect(changelog).toContain(name.split(" ")[1]);
  });
});
