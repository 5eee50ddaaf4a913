/** How the gateway serves the console: to browsers, under a policy, and without affecting the API. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const html = { accept: "text/html,application/xhtml+xml" };
const dist = join(import.meta.dirname, "../../console/dist");

describe("a gateway with the console built", () => {
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.close());
  const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(gateway.url + path, { headers, method });

  it("answers browsers at its pages, each time with a new nonce", async () => {
    const answers = await Promise.all(
      ["/", "/start", "/requests/req_1", "/sign-in?to=/start"].map((path) => ask(path, html)),
    );
    const nonces = answers.map(({ status, headers }) => {
      expect(status).toBe(200);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      const policy = headers.get("content-security-policy")!;
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      return /nonce-([^']+)'/.exec(policy)![1]!;
    });
    expect(new Set(nonces).size).toBe(answers.length);
    expect(await answers[0]!.text()).toContain(`nonce="${nonces[0]}"`);
  });

  it("answers programs with JSON at the same addresses, and every caller at others", async () => {
    for (const [path, headers, method] of [
      ["/", {}, "GET"],
      ["/requests", { accept: "application/json" }, "GET"],
      ["/requests", html, "POST"],
      ["/chat/completions", html, "GET"],
      ["/v1/start", html, "GET"],
      ["/assets/none.js", html, "GET"],
      ["/assets/..%2Findex.html", html, "GET"],
    ] as const) {
      const answer = await ask(path, headers, method);
      expect({ path, status: answer.status }).toEqual({ path, status: 404 });
      expect(await answer.json()).toMatchObject({ error: { code: "not_found" } });
    }
  });

  it("serves its assets as immutable, in the caller's best encoding", async () => {
    const page = await (await ask("/", html)).text();
    const [, script] = /src="(\/assets\/index-[^"]+\.js)"/.exec(page)!;
    const bytes = readFileSync(join(dist, script!));
    for (const coding of ["br", "gzip", "identity"]) {
      const answer = await ask(script!, { "accept-encoding": coding });
      expect(answer.headers.get("content-encoding") ?? "identity").toBe(coding);
      expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    }
    const refused = await ask(script!, { "accept-encoding": "br;q=0, gzip;q=0" });
    expect(refused.headers.get("content-encoding")).toBeNull();
  });
});

describe("a gateway whose console is not built", () => {
  it("says so in a page, with the reason if building failed, and serves the console once it is built", async () => {
    const folder = temporaryDirectory();
    const gateway = await startTestGateway({ consoleFolder: folder });
    const read = async () => {
      const answer = await fetch(gateway.url, { headers: html });
      return { status: answer.status, text: await answer.text() };
    };
    expect(await read()).toMatchObject({
      status: 503,
      text: expect.stringContaining("is being built") as string,
    });
    writeFileSync(join(folder, "dist-failed.txt"), "no <b>disk</b>");
    expect((await read()).text).toContain("<pre>no &lt;b&gt;disk&lt;/b&gt;</pre>");
    expect((await gateway.get("/v1/models")).status).toBe(200);
    mkdirSync(join(folder, "dist/assets"), { recursive: true });
    writeFileSync(join(folder, "dist/index.html"), "<p nonce=CSP_NONCE>built</p>");
    writeFileSync(join(folder, "dist/pages.json"), '["start"]');
    writeFileSync(join(folder, "dist/.stamp"), "1");
    await expect.poll(async () => (await read()).status).toBe(200);
    await gateway.close();
  });
});
